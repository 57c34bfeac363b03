const SUPABASE = new URL("../../supabase/", import.meta.url);

import { PGlite } from "@electric-sql/pglite";

/** A database that runs SQL. */
export interface Database {
  exec(sql: string): Promise<unknown>;
}

/**
 * Privileges that a new table in `public` gets by itself: `open` on hosted projects from before
 * 2026-10-30, `closed` on those made since.
 */
export type DefaultPrivileges = "open" | "closed";

/**
 * Makes an empty database what a hosted project offers to a migration: one with the roles of the
 * Data API.
 *
 * @param database An empty database.
 * @param defaultPrivileges What those roles may do with tables that come later.
 */
export async function prepare(
  database: Database,
  defaultPrivileges: DefaultPrivileges,
): Promise<void> {
  for (const role of ["anon", "authenticated", "service_role bypassrls"]) {
    // Roles belong to the server, which may have other databases.
    await database.exec(`
      do $$ begin create role ${role} nologin noinherit;
      exception when duplicate_object then null; end $$
    `);
  }
  await database.exec(
    "grant usage on schema public to anon, authenticated, service_role",
  );
  if (defaultPrivileges === "open") {
    await database.exec(
      "alter default privileges in schema public grant all on tables to anon, authenticated, service_role",
    );
  }
}

/** Applies the project's migrations, in order. */
export async function migrate(database: Database): Promise<void> {
  const folder = new URL("migrations/", SUPABASE);
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  for (const name of names.sort()) {
    await database.exec(await Deno.readTextFile(new URL(name, folder)));
  }
}

/**
 * Starts PostgreSQL (PGlite, in memory) with the project's table, which nothing but the migrations
 * has touched.
 *
 * @param defaultPrivileges What the migrations find.
 */
export async function openDatabase(
  defaultPrivileges: DefaultPrivileges = "closed",
): Promise<PGlite> {
  const database = await PGlite.create();
  await prepare(database, defaultPrivileges);
  await migrate(database);
  return database;
}

/** Inserts the project's seed. */
export async function seed(database: Database): Promise<void> {
  await database.exec(
    await Deno.readTextFile(new URL("seed.sql", SUPABASE)),
  );
}
