/** PostgreSQL without Docker (PGlite), with the migrations of the project. */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { globSync } from "node:fs";
import { PROJECT } from "./project.ts";

/** What this module needs of a PostgreSQL. */
export type Database = { exec(sql: string): Promise<unknown> };

/**
 * Gives an empty database the Data API's roles, as a hosted project has them. A setting of the
 * project decides what it grants them on each new table and function in `public`: everything or
 * nothing. (PostgreSQL itself lets every role call a new function.)
 */
export async function addRoles(db: Database, onNew: "all" | "nothing") {
  const roles = "anon, authenticated, service_role";
  await db.exec(`
    create role anon noinherit;
    create role authenticated noinherit;
    create role service_role noinherit bypassrls;
    grant usage on schema public to ${roles};
  `);
  if (onNew === "nothing") return;
  await db.exec(`
    alter default privileges in schema public grant all on tables to ${roles};
    alter default privileges in schema public grant all on functions to ${roles};
  `);
}

/** Runs files of the project. If PostgreSQL rejects one, the error names it. */
export async function runFiles(db: Database, ...paths: string[]) {
  for (const path of paths) {
    const sql = await Deno.readTextFile(new URL(path, PROJECT));
    await db.exec(sql).catch(({ message }) => {
      throw new Error(`PostgreSQL rejects ${path}: ${message}`);
    });
  }
}

/** The paths of the project's migrations, in order. (The Supabase CLI skips any other file.) */
export const MIGRATIONS = globSync("supabase/migrations/[0-9]*_*.sql", { cwd: PROJECT }).sort();

/** Opens a PostgreSQL (PGlite, in memory) with the project's table. Disposing closes it. */
export async function openDatabase() {
  const db = await PGlite.create();
  Deno.exitCode = 0; // PGlite sets it, and Deno would fail a test.
  await addRoles(db, "all");
  await runFiles(db, ...MIGRATIONS);
  return db;
}

/** Lets programs of this machine connect to a PostgreSQL (PGlite). Disposing ends that. */
export async function serveDatabase(db: PGlite) {
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 20 });
  await server.start();
  const url = `postgres://postgres@${server.getServerConn()}/postgres?sslmode=disable`;
  return { url, [Symbol.asyncDispose]: () => server.stop() };
}
