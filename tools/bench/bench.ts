/**
 * `deno task bench`: measures the function beside bare supabase-js and the scaffold, and prints the
 * table as `README.md` has it.
 */
import { cp } from "node:fs/promises";
import { edgeDeno } from "../edge_deno.ts";
import { FUNCTION_FOLDER, PROJECT, SEEDED } from "../project.ts";
import { downloadPackages, startFunction } from "../stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { makeTempFolder } from "../temp_folder.ts";
import { type Figures, measure } from "./measure.ts";

const ROUNDS = 9;

const deno = await edgeDeno();
// Outside of the project, where deployed functions are, too.
await using root = await makeTempFolder();
const folderOf = (name: string) => new URL(`${name}/`, root.url);
await cp(new URL("handlers/", import.meta.url), root.url, { recursive: true });
await cp(FUNCTION_FOLDER, folderOf("function"), { recursive: true });
const { imports } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", PROJECT)),
);
for (const name of ["bare", "scaffold", "stub"]) {
  const config = new URL("deno.json", folderOf(name));
  await Deno.writeTextFile(config, JSON.stringify({ imports }));
}
for (const name of ["bare", "function", "scaffold"]) {
  await downloadPackages({ folder: folderOf(name), deno });
}
await using dataApi = await startFunction({
  env: { ROW: JSON.stringify([{ project_id: SEEDED.project_id }]) },
  folder: folderOf("stub"),
  deno,
});

console.log(
  `| Data API | Handler | Of bare | Requests per CPU second | p99 ms |
| --- | --- | --- | --: | --: |`,
);
const importsMs: Record<string, number[]> = {};
for (const form of ["compressed", "chunked", "plain"]) {
  const API_URL = `${dataApi.url.origin}/${form}`;
  const env = platformEnv({ ...LOCAL_SERVICE, API_URL });
  const bare: Figures[] = [];
  const rounds = { bare, function: [], scaffold: [] };
  const handlers = Object.entries<Figures[]>(rounds);
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`${form}, round ${round} of ${ROUNDS} ...`);
    for (const [name, figures] of handlers) {
      const measured = await measure({ env, folder: folderOf(name), deno });
      figures.push(measured);
      (importsMs[name] ??= []).push(measured.importMs);
    }
  }
  for (const [name, figures] of handlers) {
    const perCpuSecond = figures.map((of) => of.perCpuSecond);
    const ofBare = perCpuSecond.map((own, round) =>
      own / (bare[round]?.perCpuSecond ?? NaN)
    );
    const [least, most] = [Math.min(...ofBare), Math.max(...ofBare)];
    const range = `(${least.toFixed(2)} to ${most.toFixed(2)})`;
    const cells = [
      form,
      name,
      `${median(ofBare).toFixed(2)} ${range}`,
      median(perCpuSecond).toFixed(),
      median(figures.map((of) => of.p99Ms)).toFixed(),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const own = median(importsMs.function ?? []);
const scaffolds = median(importsMs.scaffold ?? []);
console.log(
  `\nImport: ${own.toFixed()} ms, the scaffold's ${scaffolds.toFixed()} ms, ` +
    `ratio ${(own / scaffolds).toFixed(2)}`,
);

function median(figures: number[]): number {
  const middle = Math.floor(figures.length / 2);
  return figures.toSorted((a, b) => a - b)[middle] ?? NaN;
}
