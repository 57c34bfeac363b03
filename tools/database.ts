import { PGlite } from "@electric-sql/pglite";
import { globSync } from "node:fs";
import { PROJECT } from "./project.ts";

/** What this module needs of a PostgreSQL. */
export type Database = { exec(sql: string): Promise<unknown> };

/**
 * Gives an empty database the Data API's roles, as a hosted project has them. What a new table
 * grants them by default, all or nothing, depends on a setting there.
 */
export async function addRoles(db: Database, defaults: "all" | "nothing") {
  const roles = "anon, authenticated, service_role";
  const change = defaults === "all" ? "grant all on tables to" : "revoke all on tables from";
  await db.exec(`
    create role anon noinherit;
    create role authenticated noinherit;
    create role service_role noinherit bypassrls;
    grant usage on schema public to ${roles};
    alter default privileges in schema public ${change} ${roles};
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

/** Applies the project's migrations, in order. */
export function migrate(db: Database): Promise<void> {
  // The Supabase CLI skips any other file.
  const paths = globSync("supabase/migrations/[0-9]*_*.sql", { cwd: PROJECT });
  return runFiles(db, ...paths.sort());
}

/** Opens a PostgreSQL (PGlite, in memory) with the project's table. Disposing of it closes it. */
export async function openDatabase() {
  const db = await PGlite.create();
  Deno.exitCode = 0; // PGlite sets it, and Deno would fail a test.
  await addRoles(db, "all");
  await migrate(db);
  return db;
}
