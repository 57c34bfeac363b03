import { fileURLToPath } from "node:url";
import { run } from "../command.ts";
import { FUNCTION_FOLDER } from "../project.ts";
import { StartError } from "./screen.ts";

export interface FunctionOptions {
  /** Its environment: exactly this, and what the operating system needs. Nothing is inherited. */
  env: Record<string, string>;
  /** Its folder, with `index.ts`. The project's by default. */
  folder?: URL;
  /** The Deno that runs it. The one that runs this by default. */
  deno?: string;
  /** Size of its heap, in MB. The platform's memory by default. */
  heapMb?: number;
  /** Whether it serves edits as they are saved, and then prints to this process's terminal. */
  watch?: boolean;
}

/**
 * Runs the function as the platform does: in a process of its own, without the environment of this
 * one, with permission for network and environment alone. Downloads missing packages first.
 *
 * Throws a `StartError` if the download fails, or if the process ends before it serves.
 */
export async function startFunction(
  {
    env,
    folder = FUNCTION_FOLDER,
    deno = Deno.execPath(),
    heapMb = 256,
    watch = false,
  }: FunctionOptions,
) {
  const bootError = (output: string) =>
    new StartError(`${output}\n\nThe edge function does not start: see above.`);
  // A process without HOME cannot download packages. Deno 2.1 knows only its own certificates; those
  // of a proxy are in the system's store.
  const store = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";
  const options = { cwd: folder, env: { DENO_TLS_CA_STORE: store } };
  const cached = await run(deno, ["cache", "index.ts"], options);
  if (!cached.success) throw bootError(cached.stderr);

  const info = await run(deno, ["info", "--json", "--no-config"]);
  const DENO_DIR: string = JSON.parse(info.stdout).denoDir;
  // On Windows, no process can open a socket without it (error 10106).
  const SystemRoot = Deno.env.get("SystemRoot");
  const serve = "serve --allow-net --allow-env --host=127.0.0.1 --port=0";
  // An edit may need a package that is missing: then, Deno downloads it or says so.
  const mode = watch ? "--watch --no-clear-screen" : "--cached-only";
  // `--preload` has no effect on `deno serve`, and a dynamic import would need permission to read.
  const entry = `import "${import.meta.resolve("./end_with_parent.ts")}";
    export { default } from "${new URL("index.ts", folder)}";`;
  const child = new Deno.Command(deno, {
    args: [
      ...`${serve} ${mode}`.split(" "),
      `--v8-flags=--max-old-space-size=${heapMb}`,
      `--config=${fileURLToPath(new URL("deno.json", folder))}`,
      `data:text/javascript,${encodeURIComponent(entry)}`,
    ],
    cwd: folder,
    clearEnv: true,
    // Without HOME, Deno has to be told where packages are.
    env: { ...env, ...SystemRoot && { SystemRoot }, DENO_DIR },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  // SIGTERM would wait for callers who are still sending.
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has already ended.
    }
  };
  // `Deno.exit` ends this process without disposing of anything.
  addEventListener("unload", kill);

  const encoder = new TextEncoder();
  let output = "";
  const url = new URL("http://127.0.0.1");
  const serving = Promise.withResolvers<void>();
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      const isServing = url.port !== "";
      if (watch && isServing) Deno.stderr.writeSync(encoder.encode(text));
      // After each edit, the watcher takes another port: the last one counts.
      const [, address] = output.match(/.*Listening on (http:\S+)\s/s) ?? [];
      if (address) {
        url.href = address;
        serving.resolve();
      } else if (output.includes("Restarting on file change")) {
        // The watcher waits for a fix, but a first start that fails is an error.
        kill();
      }
    }
  };
  const { status, stdout, stderr } = child;
  const ended = Promise.all([status, collect(stdout), collect(stderr)])
    .then(() => {
      removeEventListener("unload", kill);
      serving.reject(bootError(output.trimEnd()));
    });
  await serving.promise;

  return {
    /** Where it serves. The watcher changes it in place. */
    url,
    pid: child.pid,
    /** What it has printed so far. */
    output: () => output,
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}
