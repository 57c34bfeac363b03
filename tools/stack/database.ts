import { PGlite, types } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { PROJECT } from "../project.ts";
import { StartError } from "./start_error.ts";

/** A database that runs SQL. */
interface Database {
  exec(sql: string): Promise<unknown>;
}

/**
 * What a new table in `public` grants to the Data API's roles by default: everything (`open`) or
 * nothing (`closed`). On a hosted project, that depends on its setting.
 */
type DefaultPrivileges = "open" | "closed";

/** Gives an empty database the Data API's roles, which a migration finds on a hosted project. */
export async function prepare(
  database: Database,
  defaultPrivileges: DefaultPrivileges,
): Promise<void> {
  const roles = "anon, authenticated, service_role";
  await database.exec(`
    create role anon nologin noinherit;
    create role authenticated nologin noinherit;
    create role service_role nologin noinherit bypassrls;
    grant usage on schema public to ${roles};
  `);
  if (defaultPrivileges === "closed") return;
  await database.exec(
    `alter default privileges in schema public grant all on tables to ${roles}`,
  );
}

/** Applies the project's migrations, in order. Throws a `StartError` if PostgreSQL rejects one. */
export async function migrate(database: Database): Promise<void> {
  const folder = "supabase/migrations/";
  const names = Array.from(
    Deno.readDirSync(new URL(folder, PROJECT)),
    ({ name }) => name,
    // The Supabase CLI skips any other file.
  ).filter((name) => /^\d+_.*\.sql$/.test(name));
  for (const name of names.sort()) await execFile(database, folder + name);
}

/** Runs a file of the project. Throws a `StartError` with the line if PostgreSQL rejects it. */
export async function execFile(
  database: Database,
  path: string,
): Promise<void> {
  const sql = await Deno.readTextFile(new URL(path, PROJECT));
  try {
    await database.exec(sql);
  } catch (error) {
    const { message, position } = error as Error & { position?: string };
    // Where there is a position, it counts characters from 1.
    const before = [...sql].slice(0, Number(position)).join("");
    const line = position ? `, line ${before.split("\n").length}` : "";
    throw new StartError(`PostgreSQL rejects ${path}${line}: ${message}`);
  }
}

/** Starts PostgreSQL (PGlite, in memory) that only the migrations have touched. */
export async function openDatabase(
  defaultPrivileges: DefaultPrivileges = "closed",
): Promise<PGlite> {
  const database = await PGlite.create();
  await prepare(database, defaultPrivileges);
  await migrate(database);
  return database;
}

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>;

/** Starts PostgreSQL (PGlite) as a migration finds it, for other processes. Disposing ends it. */
export async function startDatabaseServer(
  defaultPrivileges: DefaultPrivileges,
) {
  const running = new AsyncDisposableStack();
  const database = running.use(
    await PGlite.create({ parsers: { [types.INT8]: String } }),
  );
  await prepare(database, defaultPrivileges);
  const server = new PGLiteSocketServer({
    db: database,
    host: "127.0.0.1",
    port: 0,
    maxConnections: 10,
  });
  await server.start();
  running.defer(() => server.stop());

  const address = `postgres:postgres@${server.getServerConn()}/postgres`;
  return {
    /** Connection string, as the CLI's `--remote` takes it. */
    url: `postgres://${address}?sslmode=disable`,
    /** Runs SQL and returns the rows of its last statement. */
    exec: async (sql: string): Promise<Record<string, unknown>[]> =>
      (await database.exec(sql)).at(-1)?.rows ?? [],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
