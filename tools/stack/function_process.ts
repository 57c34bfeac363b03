import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER } from "../project.ts";
import { run } from "../command.ts";
import { StartError } from "./start_error.ts";

/** How long a start may take, in milliseconds: many times what a slow machine needs. */
const BOOT_MS = 30_000;

/** Memory that the platform gives an edge function, in MB. */
const MEMORY_MB = 256;

// Deno 2.1 only knows its own certificates; a proxy's are among the system's.
const DENO_TLS_CA_STORE = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";

const END_WITH_PARENT = new URL("end_with_parent.ts", import.meta.url);

/** Where Deno, whatever its version, keeps packages. Asked here, because a start is measured. */
const INFO = ["info", "--json", "--no-config", "--no-lock"];
const DENO_DIR: string =
  JSON.parse((await run(Deno.execPath(), INFO)).stdout).denoDir;

/** An edge function that runs in a process of its own. Disposing of it ends the process. */
export interface FunctionProcess extends AsyncDisposable {
  /** The function's address. */
  url: URL;
  /** Identifies the operating system's process. */
  pid: number;
  /** Everything that the function has printed so far. */
  output(): string;
  /** Resolves to the exit code when the process ends, whoever ended it. */
  ended: Promise<number>;
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
  /** More arguments for `deno serve`. */
  args?: string[];
  /** How long it may take until it serves, in milliseconds. Half a minute, when not given. */
  bootMs?: number;
  /** Ends it, if it does not serve yet. */
  signal?: AbortSignal;
  /** Called with what the function prints once it serves, as it comes. */
  onOutput?: (text: string) => void;
}

/** A function that ended before it served: what it printed, and how it ended. */
export class BootError extends StartError {
  constructor(
    readonly output: string,
    readonly exitCode: number,
    why: string,
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
    heapMb = MEMORY_MB,
    args = [],
    bootMs = BOOT_MS,
    signal,
    onOutput,
  }: FunctionOptions,
): Promise<FunctionProcess> {
  signal?.throwIfAborted();
  // `--preload` has no effect on `deno serve`, and an import at run time would need permission to read.
  const entry = `import "${END_WITH_PARENT}";
    export { default } from "${new URL("index.ts", folder)}";`;
  const child = new Deno.Command(deno, {
    args: [
      "serve",
      "--cached-only",
      "--allow-net",
      "--allow-env",
      "--host=127.0.0.1",
      "--port=0",
      `--v8-flags=--max-old-space-size=${heapMb}`,
      ...lockArgs(folder),
      `--config=${fileURLToPath(new URL("deno.json", folder))}`,
      ...args,
      `data:text/javascript,${encodeURIComponent(entry)}`,
    ],
    cwd: folder,
    clearEnv: true,
    // Without HOME, Deno has to be told where its packages are.
    env: { ...env, ...systemEnv(), DENO_DIR },
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
  const abort = AbortSignal.any(signal ? [limit, signal] : [limit]);
  abort.addEventListener("abort", kill);

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
      : "does not start: see above.";
    serving.reject(new BootError(output, code, why));
    return code;
  });

  const url = await serving.promise
    .finally(() => abort.removeEventListener("abort", kill));
  return {
    url,
    pid: child.pid,
    output: () => output,
    ended,
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}

/**
 * What the operating system needs in the environment of any process: on Windows `SystemRoot`, without
 * which no process can open a socket (error 10106), as Python's `subprocess` documents.
 */
export function systemEnv(
  os: typeof Deno.build.os = Deno.build.os,
  env: Pick<Deno.Env, "get"> = Deno.env,
): Record<string, string> {
  const root = os === "windows" ? env.get("SystemRoot") : undefined;
  return root ? { SystemRoot: root } : {};
}

/**
 * Downloads the function's packages, which a process without HOME could not.
 *
 * @throws {StartError} When the download fails.
 */
export async function downloadPackages(
  { folder = FUNCTION_FOLDER, deno = Deno.execPath(), signal }: Partial<
    FunctionOptions
  > = {},
): Promise<void> {
  const { success, stderr } = await run(
    deno,
    ["cache", ...lockArgs(folder), "index.ts"],
    {
      cwd: folder,
      env: { DENO_TLS_CA_STORE },
      stdin: "null",
      ...signal && { signal },
    },
  );
  if (success) return;
  throw new StartError(
    `${stderr}\n\n` +
      "The function's packages could not be downloaded: see above. Does its deno.json name each " +
      "of them, and can this machine reach the npm registry?",
  );
}

/**
 * Runs the function as `startFunction` does, and downloads its packages if they are missing.
 *
 * @throws {StartError} When the function does not start, or the download fails.
 */
export async function downloadAndStartFunction(
  options: FunctionOptions,
): Promise<FunctionProcess> {
  try {
    return await startFunction(options);
  } catch (error) {
    // Only then, so that a mistake in the function shows as itself.
    const isMissing = error instanceof BootError &&
      error.output.includes("--cached-only");
    if (!isMissing) throw error;
    await downloadPackages(options);
    return await startFunction(options);
  }
}

/** What was uploaded has no lock file; the source has the project's. */
function lockArgs(folder: URL): string[] {
  return folder.href === FUNCTION_FOLDER.href ? [] : ["--no-lock"];
}
