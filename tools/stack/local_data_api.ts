import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * Starts the Data API (`@supabase/lite`) on PostgreSQL (PGlite, in memory) with the project's table
 * and seed. Throws if PostgreSQL rejects a migration or the seed.
 */
export async function startDataApi() {
  const worker = new Worker(new URL("data_api_worker.ts", import.meta.url));
  await using started = new AsyncDisposableStack();
  started.defer(async () => void await worker.terminate());
  const [{ url, error }] = await once(worker, "message");
  if (error) throw error;
  return Object.assign(started.move(), {
    url: String(url),
    /** Runs SQL as the table's owner. Wait for its end before the next. Returns the last rows. */
    async exec(sql: string): Promise<Record<string, unknown>[]> {
      worker.postMessage(sql);
      const [{ rows, error }] = await once(worker, "message");
      if (error) throw error;
      return rows;
    },
  });
}
