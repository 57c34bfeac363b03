import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";

/**
 * Starts the Data API (`@supabase/lite`) on PostgreSQL (PGlite, in memory) with the project's table
 * and seed. Throws if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  const worker = new Worker(new URL("data_api_worker.ts", import.meta.url));
  await using unfinished = new AsyncDisposableStack();
  unfinished.defer(async () => void await worker.terminate());
  const [{ url, error }] = await once(worker, "message");
  if (error) throw error;
  return Object.assign(unfinished.move(), {
    url: String(url),
    /** Runs SQL as the table's owner. Returns the rows of the last statement. */
    async exec(sql: string): Promise<Record<string, unknown>[]> {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ sql, port: port2 }, [port2]);
      const [{ rows, error }] = await once(port1, "message");
      port1.close();
      if (error) throw error;
      return rows;
    },
  });
}
