/** Memory that the platform gives an edge function, in MB. */
const MEMORY_MB = 256;

// Deno 2.1 looks at its own certificates alone; a proxy's are in the system's.
const DENO_TLS_CA_STORE = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";

/** Folder of the edge function's source. */
export const FUNCTION_FOLDER = new URL(
  "../../supabase/functions/check-username-active/",
  import.meta.url,
);

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
  /** Its environment: exactly this, nothing is inherited. */
  env: Record<string, string>;
  /** Its folder, with `index.ts`. The source, when not given. */
  folder?: URL;
  /** The Deno to run it with. The one that runs this, when not given. */
  deno?: string;
  /** More arguments for `deno serve`. */
  args?: string[];
  /** Called with what the function prints once it serves, as it comes. */
  onOutput?: (text: string) => void;
}

/** A function that ended before it served: what it printed, and how it ended. */
export class BootError extends Error {
  constructor(readonly output: string, readonly exitCode: number) {
    super(`The function did not start (exit code ${exitCode}):\n${output}`);
  }
}

/**
 * Runs the function as the platform does: a process of its own, no inherited environment, and no
 * permission but network and environment.
 *
 * @returns The process, once it serves.
 * @throws {BootError} When it ends before that.
 */
export async function startFunction(
  {
    env,
    folder = FUNCTION_FOLDER,
    deno = Deno.execPath(),
    args = [],
    onOutput,
  }: FunctionOptions,
): Promise<FunctionProcess> {
  const child = new Deno.Command(deno, {
    args: [
      "serve",
      "--cached-only",
      "--allow-net",
      "--allow-env",
      "--host=127.0.0.1",
      "--port=0",
      `--v8-flags=--max-old-space-size=${MEMORY_MB}`,
      ...lockArgs(folder),
      ...args,
      "index.ts",
    ],
    cwd: folder,
    clearEnv: true,
    // Without HOME, Deno has to be told where its packages are.
    env: { ...env, DENO_DIR: await denoDir(deno) },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  let running = true;
  let serving = false;
  let output = "";
  const address = Promise.withResolvers<URL>();
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      const text = new TextDecoder().decode(chunk);
      output += text;
      if (serving) onOutput?.(text);
      const [, url] = output.match(/Listening on (http:\S+)/) ?? [];
      if (!url) continue;
      serving = true;
      address.resolve(new URL(url));
    }
  };
  const ended = Promise.all([
    child.status,
    collect(child.stdout),
    collect(child.stderr),
  ]).then(([{ code }]) => {
    running = false;
    address.reject(new BootError(output, code));
  });

  return {
    url: await address.promise,
    pid: child.pid,
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (running) child.kill("SIGTERM");
      await ended;
    },
  };
}

/**
 * Downloads the function's packages, which a process without HOME could not.
 *
 * @throws {Error} When they cannot be had.
 */
export async function downloadPackages(
  { folder = FUNCTION_FOLDER, deno = Deno.execPath() }: Omit<
    FunctionOptions,
    "env"
  > = {},
): Promise<void> {
  const { success } = await new Deno.Command(deno, {
    args: ["cache", ...lockArgs(folder), "index.ts"],
    cwd: folder,
    env: { DENO_TLS_CA_STORE },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) {
    throw new Error(
      "The function's packages cannot be had: see above. Does its own deno.json name each of " +
        "them, and is the npm registry within reach?",
    );
  }
}

/** What was uploaded has no lock file; the source has the project's. */
function lockArgs(folder: URL): string[] {
  return folder.href === FUNCTION_FOLDER.href ? [] : ["--no-lock"];
}

const denoDirs = new Map<string, Promise<string>>();

/** Where that Deno keeps its packages. Asked once, for a start is measured. */
function denoDir(deno: string): Promise<string> {
  const known = denoDirs.get(deno) ?? askDenoDir(deno);
  denoDirs.set(deno, known);
  return known;
}

async function askDenoDir(deno: string): Promise<string> {
  const { stdout } = await new Deno.Command(deno, {
    args: ["info", "--json", "--no-config", "--no-lock"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
