/** Decides when a lookup asks the Data API again, and when it has failed. */
import { createConnections } from "./connections.ts";
import { createQuery, type Failure } from "./query.ts";
import type { ActivationCheck } from "./request.ts";

// How long a lookup may take, in milliseconds, with all its attempts.
const MAX_LOOKUP_MS = 5_000;
// When the attempts of a lookup are due, in milliseconds after the lookup began. The last one is
// due after 4.3 s, so that the lookup survives an outage of four seconds.
const ATTEMPTS_DUE_MS = [0, 50, 500, 1_400, 2_850, 4_300];
// Longest random delay of an attempt, in milliseconds: it spreads lookups that fail together.
const MAX_DELAY_MS = 250;

/**
 * Makes the function that looks up activation keys.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKeys The secret keys for the Data API, at least one, in the order of their use.
 * @returns A function that looks up whether a user holds an active key of a product, and returns
 * the name of the response. When a lookup fails, that function logs one line.
 */
export function createLookup(url: string, secretKeys: string[]) {
  const connections = createConnections();
  const query = createQuery(url, secretKeys, connections.pool);

  return async (check: ActivationCheck) => {
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    const poolAtStart = connections.pool();
    const timeLimit = new AbortController();
    const timer = setTimeout(() => timeLimit.abort(), MAX_LOOKUP_MS);
    let failure: Failure = { code: "timeout", status: 0 }; // If no attempt ends in time.
    try {
      for (const dueMs of ATTEMPTS_DUE_MS) {
        if (dueMs > 0) {
          const pauseMs = Math.max(dueMs - elapsedMs(), 0) + MAX_DELAY_MS * Math.random();
          if (elapsedMs() + pauseMs >= MAX_LOOKUP_MS) break;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        // A slow attempt is waited for: a second one beside it would make a busy Data API busier.
        const answer = await query(check, timeLimit.signal);
        if ("isActive" in answer) return answer.isActive ? "active" : "not_found";
        // An attempt that did not end in time says nothing, so the failure before it is logged.
        if (!timeLimit.signal.aborted) failure = answer.failure;
        if (!answer.mayPass) break;
        connections.replaceAfterFailure(poolAtStart); // So a lookup replaces one pool at most.
      }
    } finally {
      clearTimeout(timer);
    }
    const duration_ms = Math.round(elapsedMs());
    console.error(JSON.stringify({ event: "lookup_failed", ...failure, duration_ms }));
    return "lookup_failed";
  };
}
