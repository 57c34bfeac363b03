import { createClient } from "@supabase/supabase-js";
import { fetchDataApi, isTransient, replaceConnections } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { ActivationCheck } from "./request.ts";
import { retry } from "./retries.ts";

/**
 * Makes the function that looks up activation keys, and with it the one supabase-js client of the
 * isolate.
 *
 * @param url The base address of the Supabase project's APIs.
 * @param secretKey The key for them. It is never logged and never sent to a caller.
 * @returns A function that looks up a user's active key of a product, and returns the outcome. It
 * never throws. When a lookup fails, it logs one line.
 */
export function createLookup(url: string, secretKey: string) {
  // Shared by all lookups, which is safe: each `select` starts a new query, from a copy of the
  // builder's address and headers.
  const activationKeys = createClient<Database>(url, secretKey, {
    // `null`: no user's token, so supabase-js sends the secret key. Without this option, it would
    // look for a session before every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // Its own retries take longer than 5 s, and do not cover a response that breaks off.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }: ActivationCheck) => {
    const startedAt = performance.now();
    // supabase-js sends the query when it is awaited, and reports every failure as a value.
    const ask = (signal: AbortSignal) =>
      activationKeys.select("project_id")
        .eq("project_id", project_id).eq("curr_user", username)
        .limit(1).abortSignal(signal);
    const result = await retry(ask, isTransient);
    const rows = result?.data;
    // Only a 200 counts: a 206 may leave rows out. Types do not validate a response, so each row
    // has to show the `project_id` that was asked for.
    const isSound = result?.status === 200 && Array.isArray(rows) &&
      rows.every((row) => row?.project_id === project_id);
    if (isSound) return rows.length > 0 ? "active" : "not_found";

    // A timeout and a passing failure may be the connections' fault: the next lookups get new ones.
    if (!result || isTransient(result)) replaceConnections();
    logLookupFailure(result, Math.round(performance.now() - startedAt));
    return "lookup_failed";
  };
}
