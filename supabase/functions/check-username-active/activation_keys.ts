import { createClient } from "@supabase/supabase-js";
import * as z from "zod";
import { fetchDataApi } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import type { Environment } from "./environment.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { LookupOutcome } from "./outcome.ts";
import type { ActivationCheck } from "./request.ts";

/** How long one lookup may take, retries included, in milliseconds. */
const LOOKUP_BUDGET_MS = 5_000;

/** Answers a check with what the table says. Never throws. */
export type Lookup = (check: ActivationCheck) => Promise<LookupOutcome>;

const Rows = z.array(z.looseObject({}));

/**
 * Makes the lookup, and with it the one supabase-js client of the isolate.
 *
 * @param environment Where the Data API is, and the secret key for it.
 * @returns The lookup. It logs one line for each failure, and nothing else.
 */
export function createLookup(
  { supabaseUrl, secretKey }: Environment,
): Lookup {
  const supabase = createClient<Database>(supabaseUrl, secretKey, {
    // There is no session, and this keeps supabase-js from looking for one at every query.
    accessToken: () => Promise.resolve(null),
    global: { fetch: fetchDataApi },
    db: { retry: false },
  });

  return async ({ username, project_id }) => {
    const startedAt = performance.now();
    const budget = new AbortController();
    const timer = setTimeout(() => budget.abort(), LOOKUP_BUDGET_MS);

    // supabase-js reports every failure as a value.
    const { data, error, status } = await supabase
      .from("activation_keys")
      .select("project_id")
      .eq("project_id", project_id)
      .eq("curr_user", username)
      .limit(1)
      .abortSignal(budget.signal);
    clearTimeout(timer);

    const rows = Rows.safeParse(data);
    if (!error && rows.success) {
      return rows.data.length > 0 ? "active" : "not_found";
    }

    logLookupFailure({
      status,
      error,
      timedOut: budget.signal.aborted,
      durationMs: performance.now() - startedAt,
    }, [username, secretKey]);
    return "lookup_failed";
  };
}
