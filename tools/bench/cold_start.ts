import { run } from "../command.ts";
import { startFunction } from "../stack/function_process.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { runRounds } from "./rounds.ts";
import type { Subjects } from "./subjects.ts";

const env = platformEnv(LOCAL_SERVICE);

// The platform's isolates find no code cache of an earlier run.
const COLD = ["--no-code-cache"];

/** Measures the import alone, and the time from spawning the runtime to the first response. */
export async function benchColdStart(
  { deno, folders }: Subjects,
): Promise<void> {
  await runRounds({
    title: "Cold start",
    rounds: 11,
    names: ["source", "bundle", "scaffold"],
    baseline: "source",
    figures: ["import ms", "spawn to response ms"],
    measure: async (name) => [
      await importMs(folders[name], deno),
      await firstResponseMs(folders[name], deno),
    ],
  });
}

async function importMs(folder: URL, deno: string): Promise<number> {
  const script = `const startedAt = performance.now();
    await import("${new URL("index.ts", folder)}");
    console.log(performance.now() - startedAt);`;
  const timer = new URL("import_timer.ts", folder);
  await Deno.writeTextFile(timer, script);
  const { success, stdout, stderr } = await run(
    deno,
    ["run", "--cached-only", "--no-lock", "-A", ...COLD, "import_timer.ts"],
    { cwd: folder, env },
  );
  if (!success) throw new Error(stderr);
  return Number(stdout);
}

async function firstResponseMs(folder: URL, deno: string): Promise<number> {
  const startedAt = performance.now();
  await using edgeFunction = await startFunction({
    env,
    folder,
    deno,
    args: COLD,
  });
  const response = await fetch(edgeFunction.url, { method: "OPTIONS" });
  await response.body?.cancel();
  return performance.now() - startedAt;
}
