import * as z from "zod/mini";

/** What supabase-js reports of a query that failed. */
export interface LookupFailure {
  /** HTTP status of the Data API's answer, 0 when there was none. */
  status: number;
  /** The Data API's error, whatever JSON that was. */
  error: unknown;
  /** Whether the lookup's budget ran out. */
  timedOut: boolean;
  /** How long the lookup took, in milliseconds. */
  durationMs: number;
}

/** Longest message that is logged, in UTF-16 units. */
const MAX_MESSAGE_LENGTH = 1_000;

// PostgREST's shape for its own errors and PostgreSQL's. Anything else may quote the query.
const DataApiError = z.object({
  code: z.string().check(z.regex(/^\w{1,32}$/)),
  message: z.string(),
});

/**
 * Logs a failed lookup as one JSON line (contract, section "Log").
 *
 * @param failure What happened.
 * @param unspeakable The texts that may not be in the line: user name and secret key.
 */
export function logLookupFailure(
  failure: LookupFailure,
  unspeakable: string[],
): void {
  console.error(JSON.stringify({
    event: "lookup_failed",
    ...describe(failure, unspeakable.flatMap(spellingsOf)),
    duration_ms: Math.round(failure.durationMs),
  }));
}

function describe(
  { status, error, timedOut }: LookupFailure,
  unspeakable: string[],
): { code: string; message: string } {
  if (status === 0) {
    return timedOut
      ? { code: "timeout", message: "The Data API took too long" }
      : { code: "unreachable", message: "The Data API did not answer" };
  }
  const known = DataApiError.safeParse(error).data;
  if (known) {
    return unspeakable.some((text) => quotes(known.message, text))
      ? { code: known.code, message: "(withheld: it quotes the request)" }
      : { ...known, message: known.message.slice(0, MAX_MESSAGE_LENGTH) };
  }
  return status < 300
    ? {
      code: "malformed",
      message: "The Data API's answer is no array of rows",
    }
    : { code: `http_${status}`, message: "The Data API refused the query" };
}

/** The ways in which an error message may quote a text: as it is, in a URL, in JSON. */
function spellingsOf(text: string): string[] {
  return [
    text,
    encodeURIComponent(text),
    new URLSearchParams({ "": text }).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
  ];
}

/** Whether a message holds a text, but not as a part of a word: "a" is no quotation in "table". */
function quotes(message: string, text: string): boolean {
  const parts = message.split(text);
  return parts.slice(1).some((after, index) => {
    const before = parts[index];
    return !isOneWord(before, text) && !isOneWord(text, after);
  });
}

function isOneWord(left: string, right: string): boolean {
  return /[a-z0-9]$/i.test(left) && /^[a-z0-9]/i.test(right);
}
