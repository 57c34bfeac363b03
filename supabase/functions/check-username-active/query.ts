/** Asks the Data API for an activation key once, and says what its answer means. */
import { createClient, type PostgrestSingleResponse } from "@supabase/supabase-js";
import type { Pool } from "./connections.ts";
import type { ActivationCheck } from "./request.ts";

// The form of PostgreSQL's error codes, and of PostgREST's.
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;
// The code of a 401 that hosted projects now and then send for a valid secret key ("JWT issued at
// future"): see issues 49655 and 50651 of supabase/supabase.
const CLOCK_ERROR = "PGRST303";

/** What is logged of a failed query: a code, and the Data API's status, or 0 for no response. */
export type Failure = { code: string; status: number };

/**
 * The answer to a query: whether the user holds an active key of the product, or a failure, and
 * whether another query may succeed after it.
 */
export type Answer = { isActive: boolean } | { failure: Failure; mayPass: boolean };

/**
 * Makes the function that asks the Data API for an activation key, with one supabase-js client for
 * each secret key.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKeys The secret keys for the Data API, at least one. The first one is used until the
 * Data API rejects it, and then the next one. They are never logged and never sent to a caller.
 * @param pool Returns the pool of connections for the next request.
 * @returns A function that asks with the key in use and, as long as the Data API rejects the key,
 * once with each other key. It never rejects: an error is a failure, also that of an abort.
 */
export function createQuery(url: string, secretKeys: string[], pool: () => Pool) {
  const fetchDataApi: typeof fetch = async (input, init) => {
    // A redirect is not followed, because it would take the secret key to another server.
    const options = { redirect: "manual", client: pool() } as const;
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
      // `null` means that there is no user's token, so supabase-js sends the secret key. Without
      // this option, supabase-js would start a timer, and look for a session before every query.
      accessToken: () => Promise.resolve(null),
      global: { fetch: fetchDataApi },
      // The retries of supabase-js take too long, and do not cover a response that is cut.
      db: { retry: false },
    }).from("activation_keys")
  );

  return async (check: ActivationCheck, signal: AbortSignal): Promise<Answer> => {
    let result!: PostgrestSingleResponse<Record<string, unknown>[]>;
    for (const builder of builders) {
      result = await builder.select("project_id,curr_user")
        .eq("project_id", check.project_id).eq("curr_user", check.username)
        .limit(1).abortSignal(signal);
      const isKeyRejected = result.status === 401 && result.error?.code !== CLOCK_ERROR;
      if (!isKeyRejected) break;
      // The rejected key becomes the last one, unless another lookup has done that. The array is
      // copied, not changed, because this loop, and those of other lookups, are running over it.
      if (builder === builders[0]) builders = [...builders.slice(1), builder];
    }
    const { status, data, error } = result;
    // Each row is compared with what was asked for, because a stray response on a connection brings
    // the rows of another lookup. (A stray empty list cannot be told from a true one, and gives a
    // wrong "no".) Only status 200 counts: a 206 may leave rows out.
    const isSound = status === 200 && Array.isArray(data) &&
      data.every((row) => row?.project_id === check.project_id && row.curr_user === check.username);
    if (isSound) return { isActive: data.length > 0 };
    const code: unknown = error?.code; // Any JSON, although supabase-js calls it a string.
    return { failure: { code: codeToLog(status, code), status }, mayPass: mayPass(status, code) };
  };
}

/** Tells whether another query may succeed after a failure with this status and code. */
const mayPass = (status: number, code: unknown) =>
  // There was no whole response; or it was no sound list: cut, or the rows of another lookup.
  status === 0 || status === 200 ||
  // What gateways send while PostgREST is away. PostgREST sends 503 while PostgreSQL is away.
  status >= 502 ||
  // What PostgREST 14 sends for the queries in flight when PostgreSQL crashes.
  (status === 400 && code === "") ||
  (status === 401 && code === CLOCK_ERROR);

/** What is logged of a failure. A message is not, because it may contain a user's name. */
function codeToLog(status: number, code: unknown): string {
  if (typeof code === "string" && CODE.test(code)) return code;
  if (status === 0) return "unreachable"; // There was no whole response.
  return status === 200 ? "malformed" : `http_${status}`; // A 200 here is no sound list of rows.
}
