import {
  createClient,
  type PostgrestSingleResponse,
} from "@supabase/supabase-js";
import { fetchDataApi } from "./data_api.ts";
import type { Database } from "./database.types.ts";
import { createDeadlines } from "./deadline.ts";
import type { Environment } from "./environment.ts";
import { logLookupFailure } from "./lookup_failure.ts";
import type { LookupOutcome } from "./outcome.ts";
import type { ActivationCheck } from "./request.ts";

/** How long one lookup may take, retries included, in milliseconds. */
const LOOKUP_BUDGET_MS = 5_000;

/**
 * When each further attempt begins, in milliseconds after the first. Whatever is back by the last
 * one still counts, and that one has time left to fail as itself instead of as a time-out.
 */
const RETRY_AT_MS = [100, 500, 1_200, 2_400, 4_350];

/** By how much an attempt may be later: lookups that failed together do not return together. */
const RETRY_JITTER_MS = 300;

/** Answers a check with what the table says. Never throws. */
export type Lookup = (check: ActivationCheck) => Promise<LookupOutcome>;

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
    // Its own retries pause for 1, 2 and 4 s, which outlasts the budget, and leave out connections
    // that drop during the answer.
    db: { retry: false },
  });

  // supabase-js reports every failure as a value.
  const query = (
    { username, project_id }: ActivationCheck,
    signal: AbortSignal,
  ) =>
    supabase
      .from("activation_keys")
      .select("project_id")
      .eq("project_id", project_id)
      .eq("curr_user", username)
      .limit(1)
      .abortSignal(signal);

  const deadline = createDeadlines(LOOKUP_BUDGET_MS);

  return async (check) => {
    const startedAt = performance.now();
    const signal = deadline();

    let answer = await query(check, signal);
    for (const at of RETRY_AT_MS) {
      if (signal.aborted || !mayPass(answer)) break;
      const dueInMs = at + RETRY_JITTER_MS * Math.random() -
        (performance.now() - startedAt);
      // After a slow failure, go on with the next attempt that is due, or at once with the last.
      if (dueInMs < 0 && at !== RETRY_AT_MS.at(-1)) continue;
      await sleep(Math.max(0, dueInMs));
      answer = await query(check, signal);
    }

    const { status, error, data } = answer;
    if (!error && isRows(data)) return data.length > 0 ? "active" : "not_found";

    logLookupFailure({
      status,
      error,
      timedOut: signal.aborted,
      durationMs: performance.now() - startedAt,
    });
    return "lookup_failed";
  };
}

/**
 * Whether the next attempt may go better: no whole answer (0), 502 and above, which gateways and
 * PostgREST say of an outage, and the 400 without a code that lookups in flight get when
 * PostgreSQL crashes.
 */
function mayPass({ status, error }: PostgrestSingleResponse<unknown>): boolean {
  return status === 0 || status >= 502 ||
    (status === 400 && error?.code === "");
}

/** The types say so already, but they only hope for what the Data API sends. */
function isRows(data: unknown): data is unknown[] {
  return Array.isArray(data) &&
    data.every((row) =>
      typeof row === "object" && row !== null && !Array.isArray(row)
    );
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
