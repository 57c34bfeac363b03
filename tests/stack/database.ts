import type { PGlite } from "@electric-sql/pglite";

const SUPABASE = new URL("../../supabase/", import.meta.url);

/**
 * Privileges that a new table in `public` gets by itself: `open` on hosted projects from before
 * 2026-10-30, `closed` on those made since.
 */
export type DefaultPrivileges = "open" | "closed";

/**
 * Makes an empty PostgreSQL what a hosted project offers to a migration: a database with the roles
 * of the Data API.
 *
 * @param database An empty database.
 * @param defaultPrivileges What those roles may do with tables that come later.
 */
export async function prepare(
  database: PGlite,
  defaultPrivileges: DefaultPrivileges,
): Promise<void> {
  await database.exec(`
    create role anon nologin noinherit;
    create role authenticated nologin noinherit;
    create role service_role nologin noinherit bypassrls;
    grant usage on schema public to anon, authenticated, service_role;
  `);
  if (defaultPrivileges === "open") {
    await database.exec(
      "alter default privileges in schema public grant all on tables to anon, authenticated, service_role",
    );
  }
}

/** Applies the project's migrations, in order. */
export async function migrate(database: PGlite): Promise<void> {
  const folder = new URL("migrations/", SUPABASE);
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  for (const name of names.sort()) {
    await database.exec(await Deno.readTextFile(new URL(name, folder)));
  }
}

/** Inserts the project's seed. */
export async function seed(database: PGlite): Promise<void> {
  await database.exec(
    await Deno.readTextFile(new URL("seed.sql", SUPABASE)),
  );
}
