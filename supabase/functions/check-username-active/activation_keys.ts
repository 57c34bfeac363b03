import { createClient } from "@supabase/supabase-js";
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
 * Pauses before each further attempt, in milliseconds. With the last attempt after 3.25 s, a
 * failure shows as itself, in time, and not as the end of the budget.
 */
const PAUSES_MS = [250, 1_000, 2_000];

/** What the next attempt may find mended: no whole answer (0), 503, and Cloudflare's 520. */
const PASSING_STATUSES = [0, 503, 520];

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
    // that drop amid the answer.
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
    for (const pause of PAUSES_MS) {
      if (!PASSING_STATUSES.includes(answer.status) || signal.aborted) break;
      await sleep(pause, signal);
      answer = await query(check, signal);
    }

    const { status, error, data } = answer;
    if (!error && isRows(data)) return data.length > 0 ? "active" : "not_found";

    logLookupFailure({
      status,
      error,
      timedOut: signal.aborted,
      durationMs: performance.now() - startedAt,
    }, [check.username, secretKey]);
    return "lookup_failed";
  };
}

/** The types say so already, but they only hope for what the Data API sends. */
function isRows(data: unknown): data is unknown[] {
  return Array.isArray(data) &&
    data.every((row) =>
      typeof row === "object" && row !== null && !Array.isArray(row)
    );
}

/** Waits, but not beyond the signal's abort. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
