import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { globSync } from "node:fs";
import { PROJECT } from "../project.ts";

type Database = { exec(sql: string): Promise<unknown> };

/**
 * What a new table in `public` grants to the Data API's roles by default: everything (`open`) or
 * nothing (`closed`). On a hosted project, that depends on a setting.
 */
type DefaultPrivileges = "open" | "closed";

/** Gives an empty database the Data API's roles, as a hosted project has them. */
export async function addRoles(db: Database, defaults: DefaultPrivileges) {
  const roles = "anon, authenticated, service_role";
  const change = defaults === "open"
    ? "grant all on tables to"
    : "revoke all on tables from";
  await db.exec(`
    create role anon noinherit;
    create role authenticated noinherit;
    create role service_role noinherit bypassrls;
    grant usage on schema public to ${roles};
    alter default privileges in schema public ${change} ${roles};
  `);
}

/** Applies the project's migrations, in order. Throws if PostgreSQL rejects one. */
export async function migrate(db: Database): Promise<void> {
  // The Supabase CLI skips any other file.
  const paths = globSync("supabase/migrations/[0-9]*_*.sql", { cwd: PROJECT });
  for (const path of paths.sort()) await runSqlFile(db, path);
}

/** Runs a file of the project. If PostgreSQL rejects it, the error names the file. */
export async function runSqlFile(db: Database, path: string) {
  const sql = await Deno.readTextFile(new URL(path, PROJECT));
  try {
    await db.exec(sql);
  } catch (error) {
    throw new Error(`PostgreSQL rejects ${path}: ${(error as Error).message}`);
  }
}

/** Opens a PostgreSQL (PGlite, in memory) that has the roles, and no table. */
export async function openDatabase(defaults: DefaultPrivileges = "closed") {
  const db = await PGlite.create();
  await addRoles(db, defaults);
  return {
    db,
    /** Runs SQL and returns the rows of its last statement. */
    async exec(sql: string): Promise<Record<string, unknown>[]> {
      try {
        return (await db.exec(sql)).at(-1)?.rows ?? [];
      } finally {
        // After an error, PGlite sets it, and Deno would fail the test.
        Deno.exitCode = 0;
      }
    },
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** Serves such a PostgreSQL to other processes. Disposing of it ends it. */
export async function startDatabaseServer(defaults: DefaultPrivileges) {
  const database = await openDatabase(defaults);
  const { db, exec } = database;
  const options = { host: "127.0.0.1", port: 0, maxConnections: 10 };
  const server = new PGLiteSocketServer({ db, ...options });
  await server.start();
  const host = server.getServerConn();
  return {
    /** Connection string, as the CLI's `--remote` takes it. */
    url: `postgres://postgres:postgres@${host}/postgres?sslmode=disable`,
    exec,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}
