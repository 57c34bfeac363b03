import type { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** The version of the Supabase CLI that this project is made for. */
const SUPABASE_CLI = "supabase@3.1.0";

// The CLI is no dependency in `deno.lock`: who only runs the tests should not download 140 MB.
const NPX = Deno.build.os === "windows" ? "npx.cmd" : "npx";

/** The project's root, where the CLI runs. */
export const PROJECT = new URL("../../", import.meta.url);

/** What a run of the CLI came to. */
export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs the Supabase CLI.
 *
 * @param args Its arguments.
 * @param options The folder it runs in (the project's root, when not given), and variables that it
 * gets beside those of this process.
 * @returns Its exit code and what it printed.
 */
export async function supabase(
  args: string[],
  { cwd = PROJECT, env = {} }: { cwd?: URL; env?: Record<string, string> } = {},
): Promise<CliResult> {
  const { code, stdout, stderr } = await new Deno.Command(NPX, {
    args: ["--yes", SUPABASE_CLI, ...args],
    cwd,
    env: { DO_NOT_TRACK: "1", NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/** A PostgreSQL server on a loopback address. Disposing of it leaves the database itself open. */
export interface DatabaseServer extends AsyncDisposable {
  /** Connection string, as the CLI's `--remote` takes it. */
  url: string;
}

/** Lets other processes reach a database. */
export async function serveDatabase(database: PGlite): Promise<DatabaseServer> {
  const server = new PGLiteSocketServer({
    db: database,
    host: "127.0.0.1",
    port: 0,
    maxConnections: 10,
  });
  await server.start();
  return {
    url:
      `postgres://postgres:postgres@${server.getServerConn()}/postgres?sslmode=disable`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
