/** Processes that tests start, and waiting for them. */
import { exec } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { run } from "../../tools/command.ts";
import { PROJECT } from "../../tools/project.ts";
import { copyProject } from "./project_copy.ts";

/** Runs a line as a person types it: in sh, and on Windows in cmd. */
export const runLine = promisify(exec);

/** Runs `deno task start`, as a person at a terminal does. Disposing of it kills it. */
export function runStart(args: string[], cwd = PROJECT) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", ...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
    }
  };
  let exitCode: number | undefined;
  // The streams end with the last process that `deno task` has started.
  Promise.all([child.status, collect(child.stdout), collect(child.stderr)])
    .then(([{ code }]) => exitCode = code);
  const ended = async () => {
    const why = () => `Still runs:\n${output}`;
    await waitUntil(() => exitCode !== undefined, why);
    return exitCode;
  };
  return {
    child,
    /** What it has printed so far. */
    output: () => output,
    /** Waits until it has printed a text. */
    waitFor: (text: string) =>
      waitUntil(() => output.includes(text), () => output),
    /** Waits until it and what it has started have ended. Returns its exit code. */
    ended,
    async [Symbol.asyncDispose]() {
      if (exitCode === undefined) child.kill("SIGKILL");
      await ended();
    },
  };
}

/** Starts the service from a copy of the project, which a test may edit, on any free port. */
export async function startCopy() {
  await using unfinished = new AsyncDisposableStack();
  const project = unfinished.use(await copyProject());
  const start = unfinished.use(runStart(["--port=0"], project.url));
  await start.waitFor("last until Ctrl-C");
  const screen = start.output();
  const base = new URL(screen.match(/^API_URL=(.*)$/m)?.[1] ?? "");
  return Object.assign(unfinished.move(), { project, start, screen, base });
}

/** Waits until a condition holds. After a minute without that, throws an error that says `why`. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  why: () => string,
): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!await holds()) {
    if (performance.now() > giveUpAt) throw new Error(why());
    await sleep(50);
  }
}

/** Returns the memory that a process takes, in MB. Rejects on Windows, which has no `ps`. */
export async function residentMb(pid: number): Promise<number> {
  if (Deno.build.os === "linux") {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return Math.round(Number(status.match(/VmRSS:\s+(\d+)/)?.[1]) / 1024);
  }
  const { stdout } = await run("ps", ["-o", "rss=", "-p", `${pid}`]);
  return Math.round(Number(stdout) / 1024);
}

/** Waits until a process takes no memory any more. Does not wait on Windows. */
export function waitUntilGone(pid: number) {
  const isGone = async () => !await residentMb(pid).catch(() => 0);
  return waitUntil(isGone, () => `Process ${pid} still runs`);
}
