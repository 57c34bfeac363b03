/** Runs the edge function in a process of its own, as the platform does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { run } from "./command.ts";
import { FUNCTION_FOLDER, LOCAL_SERVICE } from "./project.ts";

interface Options {
  folder?: URL; // The function's folder: the project's by default.
  deno?: string; // Which Deno runs it: this process's by default.
  /** To serve edits as they are saved, even after a mistake, and to print what the process does. */
  watch?: boolean;
  env?: Record<string, string>; // Variables beside those of the platform.
}

/**
 * Runs the function on a Data API as the platform does: in a process of its own, without the
 * environment of this one, with permission for network and environment alone. Downloads missing
 * packages first. Throws if the download fails, or if the process ends before it serves.
 */
export async function startFunction(dataApiUrl: string, options: Options = {}) {
  const { folder = FUNCTION_FOLDER, deno = Deno.execPath(), watch } = options;
  const path = fileURLToPath(folder);
  const bootError = (output: string) =>
    new Error(`${output}\n\nThe edge function in ${path} does not start: see above.`);
  // First, the packages are downloaded, with the system's certificates, which a proxy may need. The
  // older Deno of `options.deno` cannot read the project's lock file.
  const lock = options.deno ? ["--no-lock"] : [];
  const store = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";
  const settings = { cwd: folder, env: { DENO_TLS_CA_STORE: store } };
  const download = await run(deno, ["cache", ...lock, "index.ts"], settings);
  if (download.code !== 0) throw bootError(download.stderr);
  // The function's process has no HOME, by which Deno would find the packages. So it is told where
  // they are. (`--no-config`, because the older Deno would read the lock file.)
  const info = await run(deno, ["info", "--json", "--no-config"]);
  const DENO_DIR: string = JSON.parse(info.stdout).denoDir;
  // `end_with_parent.ts` has to run first, and `deno serve` ignores `--preload`.
  const entry = `import "${import.meta.resolve("./end_with_parent.ts")}";
    export { default } from "${new URL("index.ts", folder)}";`;
  const args = [
    ..."serve --allow-net --allow-env --host=127.0.0.1 --port=0".split(" "),
    ...lock,
    // An edit may import a missing package: Deno then downloads it, or says why not.
    ...(watch ? ["--watch", "--no-clear-screen"] : ["--cached-only"]),
    "--v8-flags=--max-old-space-size=256", // The platform's memory, in MB.
    `--config=${fileURLToPath(new URL("deno.json", folder))}`,
    `data:text/javascript,${encodeURIComponent(entry)}`,
  ];
  const childEnv = {
    SUPABASE_URL: dataApiUrl,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: LOCAL_SERVICE.SECRET_KEY }),
    ...options.env,
    DENO_DIR,
    // Deno keeps the packages of each registry apart. A company may have a registry of its own.
    NPM_CONFIG_REGISTRY: Deno.env.get("NPM_CONFIG_REGISTRY"),
    // On Windows, no process can open a socket without this variable (error 10106).
    SystemRoot: Deno.env.get("SystemRoot"),
  };
  const child = spawn(deno, args, { cwd: folder, env: childEnv });
  // SIGTERM would wait for callers who are still sending.
  const kill = () => child.kill("SIGKILL");
  // `Deno.exit` disposes of nothing, and an endless loop keeps `end_with_parent.ts` from noticing.
  addEventListener("unload", kill);

  let output = "";
  const url = new URL("http://127.0.0.1");
  const serving = Promise.withResolvers<void>();
  const collect = (text: string) => {
    output += text;
    if (watch) process.stderr.write(text);
    // After each edit, the watcher takes another port: the last one counts.
    const [, address] = output.match(/.*Listening on (http:\S+)\s/s) ?? [];
    if (address) {
      url.href = address;
      serving.resolve();
    } else if (/Watcher.* Process failed/.test(output)) {
      kill(); // Before it has served, the watcher would wait for an edit without a word.
    }
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  const ended = once(child, "close").then(() => {
    removeEventListener("unload", kill);
    // Changes nothing once it has served.
    serving.reject(bootError(output.trimEnd()));
  });
  await serving.promise;
  return {
    url, // Where it serves. The watcher changes it in place.
    pid: child.pid!,
    output: () => output, // What it has printed so far.
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}
