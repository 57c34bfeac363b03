import { createClient } from "@supabase/supabase-js";
import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import type { ActivationCheck } from "./request.ts";

/** How long a lookup may take, in milliseconds, with all its attempts. */
const MAX_LOOKUP_MS = 5_000;

/**
 * When the attempts are due, in milliseconds after the lookup began. The last one is late, for a
 * Data API that takes seconds to come back.
 */
const ATTEMPTS_DUE_MS = [0, 50, 500, 1_400, 2_850, 4_300];

/**
 * Longest random delay before another attempt, in milliseconds. Without it, lookups that fail
 * together would come back together.
 */
const MAX_DELAY_MS = 250;

/**
 * How long an idle connection is kept, in milliseconds. Deno's default is longer, and by then a
 * device on the way may have forgotten the connection.
 */
const MAX_IDLE_MS = 10_000;

/** The form of PostgreSQL's codes and of PostgREST's. */
const CODE = /^([A-Z0-9]{5}|PGRST(\d{3}|X\d{2}))$/;

/**
 * Makes the function that looks up activation keys, and one supabase-js client for all its lookups.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKey The key for them. It is never logged and never sent to a caller.
 * @returns A function that looks up a user's active key of a product, and returns the name of the
 * response. When a lookup fails, it logs one line.
 */
export function createLookup(url: string, secretKey: string) {
  // Holds the connections to the Data API.
  let httpClient = createHttpClient();

  const fetchDataApi: typeof fetch = async (input, init) => {
    // A redirect would take the secret key elsewhere.
    const options = { redirect: "manual", client: httpClient } as const;
    const response = await fetch(input, { ...init, ...options });
    if (response.status !== 404) return response;
    // supabase-js would take a 404 with a list, or with nothing, for a success.
    const text = await response.text();
    return new Response(/^\s*{/.test(text) ? text : "{}", response);
  };

  // Shared by all lookups, which is safe: each `select` starts a new query, from a copy of the
  // builder's address and headers.
  const activationKeys = createClient(url, secretKey, {
    // `null`: no user's token, so supabase-js sends the secret key. Without this option, it would
    // look for a session before every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // Its own retries take too long, and do not cover a response that is cut.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }: ActivationCheck) => {
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    const clientAtStart = httpClient;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), MAX_LOOKUP_MS);
    let failure = { code: "timeout", status: 0, mayPass: true }; // If no attempt ends in time.
    try {
      for (const dueMs of ATTEMPTS_DUE_MS) {
        if (dueMs > 0) {
          const delayMs = MAX_DELAY_MS * Math.random();
          const pauseMs = Math.max(dueMs - elapsedMs(), 0) + delayMs;
          if (elapsedMs() + pauseMs > MAX_LOOKUP_MS) break;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        // A slow one is waited for: another beside it would make a busy Data API busier.
        const result = await activationKeys.select("project_id,curr_user")
          .eq("project_id", project_id).eq("curr_user", username)
          .limit(1).abortSignal(controller.signal);
        // An aborted attempt says nothing about the Data API: the failure before it counts.
        if (controller.signal.aborted) break;
        const { status, data } = result;
        // Each row is compared: a response may be another caller's. And a 206 may leave rows out.
        const isSound = status === 200 && Array.isArray(data) &&
          data.every((row) =>
            row?.project_id === project_id && row.curr_user === username
          );
        if (isSound) return data.length > 0 ? "active" : "not_found";
        failure = failureOf(result);
        if (!failure.mayPass) break;
      }
    } finally {
      clearTimeout(timer);
    }

    const { mayPass, ...logged } = failure;
    // Connections can go bad: they die in silence, or fail for as long as they are used, and Deno
    // goes on using them. So later queries get new ones, unless they have been replaced meanwhile.
    if (mayPass && httpClient === clientAtStart) {
      httpClient = createHttpClient() ?? clientAtStart;
      if (httpClient !== clientAtStart) clientAtStart?.close();
    }
    const duration_ms = Math.round(elapsedMs());
    const line = { event: "lookup_failed", ...logged, duration_ms };
    console.error(JSON.stringify(line));
    return "lookup_failed";
  };
}

function createHttpClient() {
  try {
    return Deno.createHttpClient({ poolIdleTimeout: MAX_IDLE_MS });
  } catch {
    // None can be made here: the connections in use, or Deno's own, stay in use.
  }
}

/** Tells what is logged of a failed attempt, never a message, and whether another may succeed. */
function failureOf({ status, error }: PostgrestSingleResponse<unknown>) {
  // The error may be any JSON, whatever its type says.
  const code: unknown = error?.code;
  const isCode = typeof code === "string" && CODE.test(code);
  // 0: no whole response. 200: no sound list of rows.
  const kinds: Record<number, string> = { 0: "unreachable", 200: "malformed" };
  return {
    code: isCode ? code : kinds[status] ?? `http_${status}`,
    status,
    mayPass: status === 0 ||
      // Deno takes some cut responses for whole.
      status === 200 ||
      // What gateways and PostgREST return during an outage.
      (status >= 502 && status < 600) ||
      // What PostgREST returns for the queries in flight when PostgreSQL crashes.
      (status === 400 && code === "") ||
      // What hosted projects return for a sound key now and then.
      (status === 401 && code === "PGRST303"),
  };
}
