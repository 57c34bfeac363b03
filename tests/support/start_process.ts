import { exec } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { PROJECT } from "../../tools/project.ts";

/** What no message for a person has in it. */
export const STACK_TRACE = /^ +at /m;

/** The end of the screen that it prints once it serves. */
export const READY = "last until Ctrl-C";

/** Starts `deno task start`, as a person at a terminal does. Disposing of it kills it. */
export function runStart(args: string[], cwd = PROJECT) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", ...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdin: "null",
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
  // What it started may still run, and print.
  Promise.all([child.status, collect(child.stdout), collect(child.stderr)])
    .then(([{ code }]) => exitCode = code);
  const ended = async () => {
    await until(() => exitCode !== undefined, () => `Still runs:\n${output}`);
    return exitCode;
  };
  return {
    child,
    /** Everything that it has printed so far. */
    output: () => output,
    /** Waits until it has printed a text. */
    printed: (text: string) => until(() => output.includes(text), () => output),
    /** Waits until it and what it started have ended. Gives its exit code. */
    ended,
    async [Symbol.asyncDispose]() {
      if (exitCode === undefined) child.kill("SIGKILL");
      await ended();
    },
  };
}

/** Waits until something is so, for up to a minute. Otherwise, `why` is what the error says. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  why: () => string,
): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!await isSo()) {
    if (performance.now() > giveUpAt) throw new Error(why());
    await sleep(50);
  }
}

/** Tells by a connection that another process, which runs `source`, boots, and that it is gone. */
export function watchProcess() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const booting = listener.accept();
  return {
    source: `globalThis.held = await Deno.connect({ port: ${port} });`,
    booting,
    async gone() {
      using connection = await booting;
      await connection.read(new Uint8Array(1)).catch(() => {});
    },
    [Symbol.dispose]: () => listener.close(),
  };
}

/** Runs a line as a person types it: in sh, and on Windows in cmd. */
export const runLine = promisify(exec);
