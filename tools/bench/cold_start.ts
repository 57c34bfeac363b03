import { platformEnv } from "../stack/local_service.ts";
import { run } from "../run.ts";
import { startFunction } from "../stack/function_process.ts";
import type { Subject, Subjects } from "./subjects.ts";
import { median, printTable, ratio } from "./table.ts";

const ROUNDS = 11;

// The platform's isolates find no code cache of an earlier run.
const COLD = ["--no-code-cache"];

/** Measures the import alone, and the time from spawning the runtime to the first answer. */
export async function benchColdStart(subjects: Subjects): Promise<void> {
  const measured = [subjects.source, subjects.bundle, subjects.scaffold];
  const results = measured.map((subject) => ({
    subject,
    imports: [] as number[],
    answers: [] as number[],
  }));
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`Cold start, round ${round} of ${ROUNDS} ...`);
    for (const { subject, imports, answers } of results) {
      imports.push(await importMs(subject, subjects.deno));
      answers.push(await firstAnswerMs(subject, subjects.deno));
    }
  }

  const medians = results.map(({ subject, imports, answers }) => ({
    name: subject.name,
    importMs: median(imports),
    answerMs: median(answers),
  }));
  const [source] = medians;
  printTable(`Cold start, medians of ${ROUNDS} rounds`, [
    ["", "import ms", "of the source", "spawn to answer ms", "of the source"],
    ...medians.map(({ name, importMs, answerMs }) => [
      name,
      importMs.toFixed(1),
      ratio(importMs, source?.importMs),
      answerMs.toFixed(0),
      ratio(answerMs, source?.answerMs),
    ]),
  ]);
}

const ENV = platformEnv({
  API_URL: "http://127.0.0.1:9",
  PUBLISHABLE_KEY: "sb_publishable_bench",
  SECRET_KEY: "sb_secret_bench",
});

async function importMs({ folder }: Subject, deno: string): Promise<number> {
  const script = `const startedAt = performance.now();
    await import("${new URL("index.ts", folder)}");
    console.log(performance.now() - startedAt);`;
  const timer = new URL("import_timer.ts", folder);
  await Deno.writeTextFile(timer, script);
  const { success, stdout, stderr } = await run(
    deno,
    ["run", "--cached-only", "--no-lock", "-A", ...COLD, "import_timer.ts"],
    { cwd: folder, env: ENV },
  );
  if (!success) throw new Error(stderr);
  return Number(stdout);
}

async function firstAnswerMs(
  { folder }: Subject,
  deno: string,
): Promise<number> {
  const startedAt = performance.now();
  await using edgeFunction = await startFunction({
    env: ENV,
    folder,
    deno,
    args: COLD,
  });
  const response = await fetch(edgeFunction.url, { method: "OPTIONS" });
  await response.body?.cancel();
  return performance.now() - startedAt;
}
