import { PGlite, types } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type DefaultPrivileges, prepare } from "./database.ts";

/** A PostgreSQL database that other processes can reach. Disposing of it leaves nothing behind. */
export interface DatabaseServer extends AsyncDisposable {
  /** Connection string, as the CLI's `--remote` takes it. */
  url: string;
  /** Runs SQL and returns the rows of its last statement. */
  exec(sql: string): Promise<Record<string, unknown>[]>;
}

/**
 * Starts PostgreSQL (PGlite) with what a hosted project offers to a migration.
 *
 * @param defaultPrivileges What the Data API's roles may do with tables that come later.
 */
export async function startDatabaseServer(
  defaultPrivileges: DefaultPrivileges,
): Promise<DatabaseServer> {
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

  return {
    url:
      `postgres://postgres:postgres@${server.getServerConn()}/postgres?sslmode=disable`,
    exec: async (sql) => (await database.exec(sql)).at(-1)?.rows ?? [],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
