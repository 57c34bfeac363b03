import { setTimeout as sleep } from "node:timers/promises";
import { FUNCTION_PATH, PROJECT } from "../../tools/project.ts";

/** What no message for a person has in it. */
export const STACK_TRACE = /^ +at /m;

/** A running `deno task start`. Disposing of it kills it. */
export interface StartProcess extends AsyncDisposable {
  child: Deno.ChildProcess;
  /** Everything that it has printed so far. */
  output(): string;
  /** Waits until it has printed a text, for up to half a minute. */
  printed(text: string): Promise<void>;
  /** Waits until it has ended, for up to half a minute, and gives its exit code. */
  ended(): Promise<number>;
}

const PATIENCE_MS = 30_000;

/**
 * Starts `deno task start`, as a person at a terminal does.
 *
 * @param args Its arguments.
 * @param cwd The project or a copy of it.
 */
export function runStart(args: string[], cwd = PROJECT): StartProcess {
  return runProcess(
    Deno.execPath(),
    ["task", "--quiet", "start", ...args],
    cwd,
  );
}

/** The end of the screen that it prints once it serves. */
export const READY = "last until Ctrl-C";

/**
 * Starts `deno task start` on a free port, and waits until it serves.
 *
 * @param cwd The project or a copy of it.
 * @returns The process, its address, and that of the function.
 */
export async function startReady(
  cwd = PROJECT,
): Promise<StartProcess & { base: URL; url: URL }> {
  const port = freePort();
  const start = runStart(["--port", `${port}`], cwd);
  await start.printed(READY);
  const base = new URL(`http://127.0.0.1:${port}`);
  return { ...start, base, url: new URL(FUNCTION_PATH, base) };
}

/** Starts a command that ends up as `deno task start`. */
export function runProcess(
  command: string,
  args: string[],
  cwd: URL,
): StartProcess {
  const child = new Deno.Command(command, {
    args,
    cwd,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) output += new TextDecoder().decode(chunk);
  };
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
  let running = true;
  const status = child.status.then(async ({ code }) => {
    running = false;
    await collected;
    return code;
  });
  return {
    child,
    output: () => output,
    printed: (text) => until(() => output.includes(text), () => output),
    async ended() {
      await until(() => !running, () => `It does not end:\n${output}`);
      return await status;
    },
    async [Symbol.asyncDispose]() {
      if (running) child.kill("SIGKILL");
      await status;
    },
  };
}

/**
 * Waits until something is so, for up to half a minute.
 *
 * @param isSo Asked every 50 ms.
 * @param why What the error says otherwise.
 */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  why: () => string,
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!await isSo()) {
    if (performance.now() > giveUpAt) throw new Error(why());
    await sleep(50);
  }
}

/** A TCP port that nobody listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Whether nobody listens at an address. */
export function isFree({ port }: URL): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port: Number(port) }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
