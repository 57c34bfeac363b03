import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import postgres from "postgres";
import { type DefaultPrivileges, prepare } from "./database.ts";

/** A PostgreSQL database that other processes can reach. Disposing of it leaves nothing behind. */
export interface DatabaseServer extends AsyncDisposable {
  /** Connection string, as the CLI's `--remote` takes it. */
  url: string;
  /** Runs SQL and returns the rows of its last statement. */
  exec(sql: string): Promise<Record<string, unknown>[]>;
}

/**
 * Makes a new database, as a hosted project offers it to a migration: on the server that
 * `TEST_DATABASE_URL` names (as a superuser), or else on a PGlite of its own.
 *
 * @param defaultPrivileges What the Data API's roles may do with tables that come later.
 */
export async function startDatabaseServer(
  defaultPrivileges: DefaultPrivileges,
): Promise<DatabaseServer> {
  const running = new AsyncDisposableStack();
  const server = Deno.env.get("TEST_DATABASE_URL");
  const url = server
    ? await createDatabase(server, running)
    : await startPglite(running);

  const client = postgres(url, { max: 1, onnotice: () => {} });
  running.defer(() => client.end());
  const exec = async (sql: string) => [...await client.unsafe(sql).simple()];
  await prepare({ exec }, defaultPrivileges);
  return {
    url,
    exec,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startPglite(running: AsyncDisposableStack): Promise<string> {
  const database = running.use(await PGlite.create());
  const server = new PGLiteSocketServer({
    db: database,
    host: "127.0.0.1",
    port: 0,
    maxConnections: 10,
  });
  await server.start();
  running.defer(() => server.stop());
  return `postgres://postgres:postgres@${server.getServerConn()}/postgres?sslmode=disable`;
}

async function createDatabase(
  server: string,
  running: AsyncDisposableStack,
): Promise<string> {
  const name = `activation_keys_${crypto.randomUUID().replaceAll("-", "")}`;
  const client = postgres(server, { max: 1 });
  running.defer(() => client.end());
  await client.unsafe(`create database ${name} template template0`);
  running.defer(async () => {
    await client.unsafe(`drop database ${name} with (force)`);
  });
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}
