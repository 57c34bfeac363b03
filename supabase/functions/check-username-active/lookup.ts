import { createClient } from "@supabase/supabase-js";
import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import type { ActivationCheck } from "./request.ts";

/** How long a lookup may take, in milliseconds, with all its attempts. */
const MAX_LOOKUP_MS = 5_000;

/**
 * When the attempts of a lookup are due, in milliseconds after the lookup began. The last attempt
 * is late, so that a Data API that is back after four seconds still gives an answer.
 */
const ATTEMPTS_DUE_MS = [0, 50, 500, 1_400, 2_850, 4_300];

/** Longest random delay of an attempt, in milliseconds: it spreads lookups that fail together. */
const MAX_DELAY_MS = 250;

/**
 * How long an idle connection is kept, in milliseconds. By default, Deno keeps one for longer than
 * some firewalls do, which drop it without a word.
 */
const MAX_IDLE_MS = 10_000;

/** The form of PostgreSQL's error codes, and of PostgREST's. */
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;

/**
 * Makes the function that looks up activation keys, with one supabase-js client for all lookups.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKey The secret key for the Data API. It is never logged and never sent to a caller.
 * @returns A function that looks up whether a user holds an active key of a product, and returns
 * the name of the response. When a lookup fails, that function logs one line.
 */
export function createLookup(url: string, secretKey: string) {
  // The pool of connections to the Data API.
  let connections = createConnections();

  // A pooled connection can be dead, or lead to a sick server, without Deno noticing. So a failure
  // that may pass replaces the pool that its lookup began on, unless that was replaced already. If
  // no new pool can be made, the old one stays in use. Closing a pool ends no query under way.
  const replaceConnections = (used: typeof connections) => {
    if (connections !== used) return;
    connections = createConnections() ?? used;
    if (connections !== used) used?.close();
  };

  const fetchDataApi: typeof fetch = async (input, init) => {
    // A redirect is not followed, because it would take the secret key to another server.
    const options = { redirect: "manual", client: connections } as const;
    const response = await fetch(input, { ...init, ...options });
    if (response.status !== 404) return response;
    // supabase-js reports success for a 404 whose body is a JSON array or is empty. So every body
    // but an object is replaced by `{}`, which supabase-js reports as an error.
    const text = await response.text();
    return new Response(/^\s*{/.test(text) ? text : "{}", response);
  };

  // All lookups share this query builder. That is safe because `select` starts a new query from a
  // copy of the builder's address and headers.
  const activationKeys = createClient(url, secretKey, {
    // `null` means that there is no user's token, so supabase-js sends the secret key. Without this
    // option, supabase-js would look for a session before every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // The retries of supabase-js take too long, and do not cover a response that is cut.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }: ActivationCheck) => {
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    const connectionsAtStart = connections;
    const timeLimit = new AbortController();
    const timer = setTimeout(() => timeLimit.abort(), MAX_LOOKUP_MS);
    let failure = { code: "timeout", status: 0 }; // Stays so if no attempt ends in time.
    try {
      for (const dueMs of ATTEMPTS_DUE_MS) {
        if (dueMs > 0) {
          const delayMs = MAX_DELAY_MS * Math.random();
          const pauseMs = Math.max(dueMs - elapsedMs(), 0) + delayMs;
          if (elapsedMs() + pauseMs > MAX_LOOKUP_MS) break;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        // A slow attempt is waited for: a second one beside it would make a busy Data API busier.
        const result = await activationKeys.select("project_id,curr_user")
          .eq("project_id", project_id).eq("curr_user", username)
          .limit(1).abortSignal(timeLimit.signal);
        // An attempt that was aborted says nothing, so the failure of the attempt before it counts.
        if (timeLimit.signal.aborted) break;
        const { status, data } = result;
        // Each row is compared with what was asked for, because a connection that carries one
        // response too many brings another caller's row. Another caller's empty list cannot be told
        // from one's own. Only status 200 counts: a 206 may leave rows out.
        const isSound = status === 200 && Array.isArray(data) &&
          data.every((row) => row?.project_id === project_id && row.curr_user === username);
        if (isSound) return data.length > 0 ? "active" : "not_found";
        const { mayPass, ...logged } = failureOf(result);
        failure = logged;
        if (!mayPass) break;
        replaceConnections(connectionsAtStart);
      }
    } finally {
      clearTimeout(timer);
    }

    if (timeLimit.signal.aborted) replaceConnections(connectionsAtStart);
    const duration_ms = Math.round(elapsedMs());
    const line = { event: "lookup_failed", ...failure, duration_ms };
    console.error(JSON.stringify(line));
    return "lookup_failed";
  };
}

function createConnections() {
  try {
    return Deno.createHttpClient({ poolIdleTimeout: MAX_IDLE_MS });
  } catch {
    // A runtime without this call: the pool in use, or Deno's default one, stays in use.
  }
}

/**
 * Tells what is logged of an attempt that failed, and whether another attempt may succeed. The log
 * gets a code and a status. It never gets a message, which may contain a user's name.
 */
function failureOf({ status, error }: PostgrestSingleResponse<unknown>) {
  // `unknown`, because the error can be any JSON, whatever its type in supabase-js says.
  const code: unknown = error?.code;
  const isCode = typeof code === "string" && CODE.test(code);
  // Status 0: there was no whole response. Status 200: the response was no sound list of rows.
  const kinds: Record<number, string> = { 0: "unreachable", 200: "malformed" };
  return {
    code: isCode ? code : kinds[status] ?? `http_${status}`,
    status,
    mayPass: status === 0 ||
      // A response that was cut, which Deno does not always notice.
      status === 200 ||
      // What gateways send while PostgREST is away. PostgREST sends 503 while PostgreSQL is away.
      (status >= 502 && status < 600) ||
      // What PostgREST 14 sends for the queries in flight when PostgreSQL crashes.
      (status === 400 && code === "") ||
      // What hosted projects send now and then for a valid secret key ("JWT issued at future"): see
      // issues 49655 and 50651 of supabase/supabase.
      (status === 401 && code === "PGRST303"),
  };
}
