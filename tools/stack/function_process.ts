import { fileURLToPath } from "node:url";
import { run } from "../command.ts";
import { freePort } from "../loopback.ts";
import { FUNCTION_FOLDER } from "../project.ts";
import { StartError } from "./start_error.ts";

/** Asked for once, and not before the first start. */
let denoDir: string | undefined;

/** An edge function that runs in a process of its own. Disposing of it ends the process. */
export interface FunctionProcess extends AsyncDisposable {
  /** The function's address. */
  url: URL;
  /** Identifies the operating system's process. */
  pid: number;
  /** Everything that the function has printed so far. */
  output(): string;
}

/** How to run the function. */
export interface FunctionOptions {
  /** Its environment: exactly this, and what the operating system needs. Nothing is inherited. */
  env: Record<string, string>;
  /** Its folder, with `index.ts`. The source, when not given. */
  folder?: URL;
  /** The Deno to run it with. The one that runs this, when not given. */
  deno?: string;
  /** Size of its heap, in MB. The platform's memory, when not given. */
  heapMb?: number;
  /** How long a start may take. When not given, many times what a slow machine needs. */
  bootMs?: number;
  /** Serves edits as they are saved. */
  watch?: boolean;
  /** Called with what is printed once it serves, as it comes. */
  onOutput?: (text: string) => void;
}

/** A function that does not start: what it or its download printed, and how that ended. */
export class BootError extends StartError {
  constructor(
    readonly output: string,
    readonly exitCode: number,
    why = "does not start: see above.",
  ) {
    super(`${output.trimEnd()}\n\nThe edge function ${why}`);
  }
}

/**
 * Runs the function as the platform does: a process of its own, no inherited environment, and no
 * permission but network and environment.
 *
 * @returns The process, once it serves.
 * @throws {BootError} When it ends before that, or takes too long.
 */
export async function startFunction(
  {
    env,
    folder = FUNCTION_FOLDER,
    deno = Deno.execPath(),
    heapMb = 256,
    bootMs = 30_000,
    watch = false,
    onOutput,
  }: FunctionOptions,
): Promise<FunctionProcess> {
  denoDir ??= await findDenoDir();
  // On Windows, no process can open a socket without it (error 10106).
  const SystemRoot = Deno.env.get("SystemRoot");
  // `--preload` has no effect on `deno serve`, and an import at run time would need permission to read.
  const entry = `import "${import.meta.resolve("./end_with_parent.ts")}";
    export { default } from "${new URL("index.ts", folder)}";`;
  const child = new Deno.Command(deno, {
    args: [
      "serve",
      "--allow-net",
      "--allow-env",
      "--host=127.0.0.1",
      // With 0, the watcher would take another one after each edit.
      `--port=${watch ? freePort() : 0}`,
      // After an edit, what to do about a missing package is for Deno to say.
      ...watch ? ["--watch", "--no-clear-screen"] : ["--cached-only"],
      `--v8-flags=--max-old-space-size=${heapMb}`,
      ...lockArgs(folder),
      `--config=${fileURLToPath(new URL("deno.json", folder))}`,
      `data:text/javascript,${encodeURIComponent(entry)}`,
    ],
    cwd: folder,
    clearEnv: true,
    // Without HOME, Deno has to be told where its packages are.
    env: { ...env, ...SystemRoot && { SystemRoot }, DENO_DIR: denoDir },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  // A SIGTERM would wait for callers who are still sending.
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  // When this process calls `Deno.exit`.
  addEventListener("unload", kill);
  const limit = AbortSignal.timeout(bootMs);
  limit.onabort = () => address ?? kill();

  let output = "";
  let address: string | undefined;
  const serving = Promise.withResolvers<URL>();
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (address) {
        onOutput?.(text);
        continue;
      }
      address = output.match(/Listening on (http:\S+)\s/)?.[1];
      if (address) serving.resolve(new URL(address));
      // Deno's watcher waits for a fix, but a first start that fails is an error.
      else if (output.includes("Restarting on file change")) kill();
    }
  };
  const ended = Promise.all([
    child.status,
    collect(child.stdout),
    collect(child.stderr),
  ]).then(async ([{ code }]) => {
    removeEventListener("unload", kill);
    await child.stdin.close().catch(() => {});
    const why = limit.aborted
      ? `was not ready within ${bootMs / 1_000} s. ` +
        "Look for a top-level `await` that never ends."
      : undefined;
    serving.reject(new BootError(output, code, why));
  });

  return {
    url: await serving.promise,
    pid: child.pid,
    output: () => output,
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}

/**
 * Downloads the function's packages, which a process without HOME could not.
 *
 * @throws {BootError} When the download fails, or the function does not compile.
 */
export async function downloadPackages(
  { folder = FUNCTION_FOLDER, deno = Deno.execPath() }: Partial<
    FunctionOptions
  >,
): Promise<void> {
  // Deno 2.1 only knows its own certificates; a proxy's are among the system's.
  const store = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";
  const args = ["cache", ...lockArgs(folder), "index.ts"];
  const { success, stderr, code } = await run(deno, args, {
    cwd: folder,
    env: { DENO_TLS_CA_STORE: store },
    stdin: "null",
  });
  if (!success) throw new BootError(stderr, code);
}

/**
 * Runs the function as `startFunction` does, and downloads its packages before if they are missing.
 *
 * @throws {BootError} When the function does not start, or the download fails.
 */
export async function downloadAndStartFunction(
  options: FunctionOptions,
): Promise<FunctionProcess> {
  await downloadPackages(options);
  return await startFunction(options);
}

/** What was uploaded has no lock file; the source has the project's. */
function lockArgs(folder: URL): string[] {
  return folder.href === FUNCTION_FOLDER.href ? [] : ["--no-lock"];
}

/** Where Deno, whatever its version, keeps packages. */
async function findDenoDir(): Promise<string> {
  const args = ["info", "--json", "--no-config", "--no-lock"];
  const { stdout } = await run(Deno.execPath(), args);
  return JSON.parse(stdout).denoDir;
}
