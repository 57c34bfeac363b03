import { PGlite } from "@electric-sql/pglite";
import { PROJECT } from "../project.ts";
import { StartError } from "./start_error.ts";

/** A database that runs SQL. */
export interface Database {
  exec(sql: string): Promise<unknown>;
}

/**
 * What a new table in `public` grants to the Data API's roles by default: everything (`open`) or
 * nothing (`closed`). On a hosted project, that depends on its setting.
 */
export type DefaultPrivileges = "open" | "closed";

/**
 * Makes an empty database what a hosted project offers to a migration: one with the roles of the
 * Data API.
 *
 * @param defaultPrivileges What those roles may do with tables that come later.
 */
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

/** Names of migrations, as the Supabase CLI reads them. It skips any other file. */
const MIGRATION = /^\d+_.*\.sql$/;

/**
 * Applies the project's migrations, in order.
 *
 * @throws {StartError} When PostgreSQL rejects one.
 */
export async function migrate(database: Database): Promise<void> {
  const folder = "supabase/migrations/";
  const files = [...Deno.readDirSync(new URL(folder, PROJECT))];
  const names = files.map(({ name }) => name).filter((name) =>
    MIGRATION.test(name)
  );
  for (const name of names.sort()) await execFile(database, folder + name);
}

/**
 * Inserts the project's seed.
 *
 * @throws {StartError} When PostgreSQL rejects it.
 */
export async function seed(database: Database): Promise<void> {
  await execFile(database, "supabase/seed.sql");
}

/**
 * Starts PostgreSQL (PGlite, in memory) with the project's table, which only the migrations
 * have touched.
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

async function execFile(database: Database, path: string): Promise<void> {
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
