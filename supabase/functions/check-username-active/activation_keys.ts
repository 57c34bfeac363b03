import { createClient } from "@supabase/supabase-js";
import { fetchDataApi } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import type { Environment } from "./environment.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { ActivationCheck } from "./request.ts";
import { isTransient, retry } from "./retries.ts";

/** How long one lookup may take, retries included, in milliseconds. */
const LOOKUP_BUDGET_MS = 5_000;

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
export function createLookup(environment: Environment): Lookup {
  const { supabaseUrl, secretKey } = environment;
  const activationKeys = createClient<Database>(supabaseUrl, secretKey, {
    // There is no session, and this keeps supabase-js from looking for one at every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    // Its own retries outlast the budget, and leave out connections that drop during the response.
    db: { retry: false },
  }).from("activation_keys");

  return async ({ username, project_id }) => {
    const startedAt = performance.now();
    // `AbortSignal.timeout` would hold on to each lookup until its time is up, long after its end.
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), LOOKUP_BUDGET_MS);
    // supabase-js reports every failure as a value.
    const query = () =>
      activationKeys
        .select("project_id")
        .eq("project_id", project_id)
        .eq("curr_user", username)
        .limit(1)
        .abortSignal(signal);

    let response = await query();
    if (isTransient(response)) {
      response = await retry(query, response, startedAt, signal);
    }
    clearTimeout(timer);
    // Another success than 200 may have left rows out.
    if (response.status === 200 && areKeysOf(project_id, response.data)) {
      return response.data.length > 0 ? "active" : "not_found";
    }
    logLookupFailure(response, performance.now() - startedAt);
    return "lookup_failed";
  };
}

/** Checks at runtime, because the types do not validate what the Data API sends. */
function areKeysOf(projectId: string, data: unknown): data is unknown[] {
  return Array.isArray(data) &&
    data.every((row) => row?.project_id === projectId);
}
