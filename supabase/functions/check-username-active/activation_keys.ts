import { createClient } from "@supabase/supabase-js";
import { fetchDataApi } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import type { Environment } from "./environment.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { ActivationCheck } from "./request.ts";
import { retry } from "./retries.ts";

/** How a lookup ends. A failure is an outcome, too. */
export type LookupOutcome = "active" | "not_found" | "lookup_failed";

/** Looks a check up in the table. Never throws. */
export type Lookup = (check: ActivationCheck) => Promise<LookupOutcome>;

/**
 * Makes the lookup, and with it the one supabase-js client of the isolate.
 *
 * @param environment Where the Data API is, and the secret key for it.
 * @returns The lookup. It logs one line for each failure, and nothing else.
 */
export function createLookup({ supabaseUrl, secretKey }: Environment): Lookup {
  const activationKeys = createClient<Database>(supabaseUrl, secretKey, {
    // There is no session, and this keeps supabase-js from looking for one at every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // Its own retries outlast the budget, and leave out connections that drop during the response.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }) => {
    const startedAt = Date.now();
    // supabase-js reports every failure as a value. A query is sent when it is awaited.
    const { status, data, error } = await retry(async (signal) =>
      await activationKeys
        .select("project_id")
        .eq("project_id", project_id)
        .eq("curr_user", username)
        .limit(1)
        .abortSignal(signal)
    );
    // Another success than 200 may have left rows out, and types do not validate what is sent.
    const isSound = status === 200 && Array.isArray(data) &&
      data.every((row) => row?.project_id === project_id);
    if (isSound) return data.length > 0 ? "active" : "not_found";
    logLookupFailure({ status, error }, Date.now() - startedAt);
    return "lookup_failed";
  };
}
