import { createClient } from "@supabase/supabase-js";
import { fetchDataApi, pool } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { ActivationCheck } from "./request.ts";
import { retry } from "./retries.ts";

/**
 * Makes the lookup, and with it the one supabase-js client of the isolate.
 *
 * @param url The base address of the project's APIs.
 * @param secretKey The key for them. It is never logged and never sent to a caller.
 * @returns The lookup: gives how it ended, of which a failure is one way. It never throws, and logs one
 * line for each failure, and nothing else.
 */
export function createLookup(url: string, secretKey: string) {
  // Each `select` copies the address and the headers, so this can be kept.
  const activationKeys = createClient<Database>(url, secretKey, {
    // There is no session, and this keeps supabase-js from looking for one at every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // Its own retries outlast the budget, and leave out connections that drop during the response.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }: ActivationCheck) => {
    const startedAt = performance.now();
    // supabase-js reports every failure as a value. A query is sent when it is awaited.
    const result = await retry((signal) =>
      activationKeys
        .select("project_id")
        .eq("project_id", project_id)
        .eq("curr_user", username)
        .limit(1)
        .abortSignal(signal), pool);
    const rows = result?.data;
    // Another success than 200 may have left rows out, and types do not validate what is sent.
    const isSound = result?.status === 200 && Array.isArray(rows) &&
      rows.every((row) => row?.project_id === project_id);
    if (isSound) return rows.length > 0 ? "active" : "not_found";
    logLookupFailure(result, Math.round(performance.now() - startedAt));
    return "lookup_failed";
  };
}
