import { createClient, type PostgrestSingleResponse } from "@supabase/supabase-js";
import { createConnections } from "./connections.ts";
import type { ActivationCheck } from "./request.ts";

// How long a lookup may take, in milliseconds, with all its attempts.
const MAX_LOOKUP_MS = 5_000;
// When the attempts of a lookup are due, in milliseconds after the lookup began. The last one is due
// after 4.3 s, so that the lookup survives an outage of four seconds.
const ATTEMPTS_DUE_MS = [0, 50, 500, 1_400, 2_850, 4_300];
// Longest random delay of an attempt, in milliseconds: it spreads lookups that fail together.
const MAX_DELAY_MS = 250;

// The form of PostgreSQL's error codes, and of PostgREST's.
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;
// The code of a 401 that hosted projects now and then send for a valid secret key ("JWT issued at
// future"): see issues 49655 and 50651 of supabase/supabase.
const CLOCK_ERROR = "PGRST303";

/**
 * Makes the function that looks up activation keys, with one supabase-js client for each secret key.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKeys The secret keys for the Data API, at least one. The first one is used until the
 * Data API rejects it, and then the next one. They are never logged and never sent to a caller.
 * @returns A function that looks up whether a user holds an active key of a product, and returns
 * the name of the response. When a lookup fails, that function logs one line.
 */
export function createLookup(url: string, secretKeys: string[]) {
  const connections = createConnections();

  const fetchDataApi: typeof fetch = async (input, init) => {
    // A redirect is not followed, because it would take the secret key to another server.
    const options = { redirect: "manual", client: connections.pool() } as const;
    const response = await fetch(input, { ...init, ...options });
    if (response.status !== 404) return response;
    // supabase-js reports success for a 404 whose body is a JSON array or is empty. So every body
    // but an object is replaced by `{}`, which supabase-js reports as an error.
    const text = await response.text();
    return new Response(/^\s*{/.test(text) ? text : "{}", response);
  };

  // A query builder for each secret key. The first one has the key in use. All lookups share them,
  // which is safe because `select` begins a query with a copy of the builder's address and headers.
  let builders = secretKeys.map((key) =>
    createClient(url, key, {
      // `null` means that there is no user's token, so supabase-js sends the secret key. Without this
      // option, supabase-js would start a timer, and look for a session before every query.
      accessToken: () => Promise.resolve(null),
      global: { fetch: fetchDataApi },
      // The retries of supabase-js take too long, and do not cover a response that is cut.
      db: { retry: false },
    }).from("activation_keys")
  );

  // One attempt of a lookup. If the Data API rejects the key in use, the others are tried at once.
  const ask = async ({ username, project_id }: ActivationCheck, signal: AbortSignal) => {
    let result!: PostgrestSingleResponse<Record<string, unknown>[]>;
    for (const builder of builders) {
      result = await builder.select("project_id,curr_user")
        .eq("project_id", project_id).eq("curr_user", username)
        .limit(1).abortSignal(signal);
      if (result.status !== 401 || result.error?.code === CLOCK_ERROR) break;
      // The key is rejected, so it becomes the last one, unless another lookup has done that already.
      // The array is copied, not changed, because loops are running over it.
      if (builder === builders[0]) builders = [...builders.slice(1), builder];
    }
    return result;
  };

  return async (check: ActivationCheck) => {
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    const poolAtStart = connections.pool();
    const timeLimit = new AbortController();
    const timer = setTimeout(() => timeLimit.abort(), MAX_LOOKUP_MS);
    let failure = { code: "timeout", status: 0 }; // If no attempt ends in time.
    try {
      for (const dueMs of ATTEMPTS_DUE_MS) {
        if (dueMs > 0) {
          const pauseMs = Math.max(dueMs - elapsedMs(), 0) + MAX_DELAY_MS * Math.random();
          if (elapsedMs() + pauseMs >= MAX_LOOKUP_MS) break;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        // A slow attempt is waited for: a second one beside it would make a busy Data API busier.
        const { status, data, error } = await ask(check, timeLimit.signal);
        // Each row is compared with what was asked for, because a stray response on a connection
        // brings the rows of another lookup. (A stray empty list cannot be told from a true one, and
        // gives a wrong `not_found`.) Only status 200 counts: a 206 may leave rows out.
        const isSound = status === 200 && Array.isArray(data) &&
          data.every((row) =>
            row?.project_id === check.project_id && row.curr_user === check.username
          );
        if (isSound) return data.length > 0 ? "active" : "not_found";
        const code: unknown = error?.code; // Any JSON, although supabase-js calls it a string.
        // An attempt that did not end in time says nothing, so the failure before it is logged.
        if (!timeLimit.signal.aborted) failure = { code: codeToLog(status, code), status };
        if (!isTransient(status, code)) break;
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

/** Tells whether another attempt may succeed after a failure with this status and code. */
const isTransient = (status: number, code: unknown) =>
  // There was no whole response; or it was no sound list: cut, or the rows of another lookup.
  status === 0 || status === 200 ||
  // What gateways send while PostgREST is away. PostgREST sends 503 while PostgreSQL is away.
  status >= 502 ||
  // What PostgREST 14 sends for the queries in flight when PostgreSQL crashes.
  (status === 400 && code === "") ||
  (status === 401 && code === CLOCK_ERROR);

/** What is logged of a failed attempt. A message is not, because it may contain a user's name. */
function codeToLog(status: number, code: unknown): string {
  if (typeof code === "string" && CODE.test(code)) return code;
  // Status 0: there was no whole response. Status 200: the response was no sound list of rows.
  return status === 0 ? "unreachable" : status === 200 ? "malformed" : `http_${status}`;
}
