/**
 * Pauses before each further attempt, in milliseconds. With the last attempt at 3.25 s, a failure
 * shows as itself, in time, and not as the end of the lookup's budget of 5 s.
 */
const PAUSES_MS = [250, 1_000, 2_000];

/** Statuses of a Data API that may answer the next attempt: as supabase-js has them. */
const PASSING_STATUSES = [503, 520];

/**
 * The `fetch` of the supabase-js client. It repeats a query that met a dropped connection or a
 * passing status. supabase-js could do that itself, but not when the connection drops amid the
 * answer, and its pauses of 1, 2 and 4 s outlast the budget.
 *
 * @param input The query's address.
 * @param init Its method, headers and signal.
 * @returns The answer, read to its end.
 * @throws {TypeError} When every attempt ended without a whole answer.
 * @throws {DOMException} When the signal aborts.
 */
export async function fetchDataApi(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<Response> {
  for (const pause of PAUSES_MS) {
    try {
      const response = await fetchWhole(input, init);
      if (!PASSING_STATUSES.includes(response.status)) return response;
    } catch (error) {
      if (init.signal?.aborted) throw error;
    }
    await sleep(pause, init.signal);
  }
  return await fetchWhole(input, init);
}

async function fetchWhole(
  input: RequestInfo | URL,
  init: RequestInit,
): Promise<Response> {
  // A redirect would carry the secret key to wherever it points.
  const response = await fetch(input, { ...init, redirect: "manual" });
  const body = await response.text();

  // supabase-js takes a 404 whose body is an array for an empty result, and so for "not found".
  const isDisguised = response.status === 404 && /^\s*\[/.test(body);
  const status = isDisguised ? 502 : response.status;
  return new Response(body || null, { status, headers: response.headers });
}

/** Waits, but not beyond the signal's abort. */
function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
