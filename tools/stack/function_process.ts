import { fileURLToPath } from "node:url";
import { run } from "../command.ts";
import { freePort } from "../loopback.ts";
import { FUNCTION_FOLDER } from "../project.ts";
import { StartError } from "./screen.ts";

/** Where Deno, whatever its version, keeps packages. Found out once. */
let denoDir: string | undefined;

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
  /** Serves edits as they are saved, and prints what it prints once it serves. */
  watch?: boolean;
}

/** Says what a function that does not start, or its download, printed, and how that ended. */
function bootError(output: string, why = "does not start: see above.") {
  return new StartError(`${output.trimEnd()}\n\nThe edge function ${why}`);
}

/**
 * Runs the function as the platform does: a process of its own, no inherited environment, and no
 * permission but network and environment. Downloads its packages before if they are missing.
 * Throws a `StartError` when the download fails, or when the process ends before it serves or takes
 * too long.
 */
export async function startFunction(
  {
    env,
    folder = FUNCTION_FOLDER,
    deno = Deno.execPath(),
    heapMb = 256,
    bootMs = 30_000,
    watch = false,
  }: FunctionOptions,
) {
  // Its packages, which a process without HOME could not download. Deno 2.1 only knows its own
  // certificates; a proxy's are among the system's.
  const store = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";
  const { success, stderr } = await run(deno, ["cache", "index.ts"], {
    cwd: folder,
    env: { DENO_TLS_CA_STORE: store },
    stdin: "null",
  });
  if (!success) throw bootError(stderr);

  const info = ["info", "--json", "--no-config"];
  denoDir ??= JSON.parse((await run(Deno.execPath(), info)).stdout).denoDir;
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
      `--config=${fileURLToPath(new URL("deno.json", folder))}`,
      `data:text/javascript,${encodeURIComponent(entry)}`,
    ],
    cwd: folder,
    clearEnv: true,
    // Without HOME, Deno has to be told where its packages are.
    env: { ...env, ...SystemRoot && { SystemRoot }, DENO_DIR: `${denoDir}` },
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
        if (watch) Deno.stderr.writeSync(new TextEncoder().encode(text));
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
  ]).then(() => {
    removeEventListener("unload", kill);
    const why = limit.aborted
      ? `was not ready within ${bootMs / 1_000} s. ` +
        "Look for a top-level `await` that never ends."
      : undefined;
    serving.reject(bootError(output, why));
  });

  return {
    url: await serving.promise,
    pid: child.pid,
    /** What it has printed so far. */
    output: () => output,
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}
