/** Keeps the connections to the Data API, and replaces those that may have gone bad. */

// How old a pool has to be, in milliseconds, before a failure may replace it. Without this limit,
// an outage would cause a new TLS connection for nearly every lookup.
const MIN_AGE_MS = 300;
// How long an idle connection is kept, in milliseconds. By default, Deno keeps one for longer than
// some firewalls do, which drop it silently.
const MAX_IDLE_MS = 10_000;

/** A pool of connections: the `client` of `fetch`. Undefined is Deno's own pool. */
export type Pool = Deno.HttpClient | undefined;

/**
 * Keeps the pool of connections to the Data API, which all lookups share. A connection can be dead,
 * or lead to a sick server, without Deno noticing. So a failure replaces the pool.
 *
 * @returns Two functions. `pool` returns the pool for the next query. `replaceAfterFailure(pool)`
 * is called after a failure that may pass, with the pool on which the lookup began. It makes a new
 * pool if that pool is still the current one, and is at least 300 ms old.
 */
export function createConnections() {
  let current = makePool();
  let madeAt = performance.now();
  return {
    pool: () => current,
    replaceAfterFailure(pool: Pool) {
      if (pool !== current || performance.now() - madeAt < MIN_AGE_MS) return;
      const made = makePool();
      if (!made) return; // None can be made: the old one stays.
      current = made;
      madeAt = performance.now();
      pool?.close(); // Queries that are under way go on.
    },
  };
}

function makePool(): Pool {
  try {
    return Deno.createHttpClient({ poolIdleTimeout: MAX_IDLE_MS });
  } catch {
    return undefined; // The runtime cannot make a pool.
  }
}
