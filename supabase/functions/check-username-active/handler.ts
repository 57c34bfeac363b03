import type { Lookup } from "./activation_keys.ts";
import type { Outcome } from "./outcome.ts";
import { readActivationCheck } from "./request.ts";
import { respond } from "./responses.ts";

/**
 * Makes the request handler: from request to outcome to response.
 *
 * @param lookup Answers a well-formed check. It is asked at most once for each request, and only
 * when nothing is wrong with the request itself.
 * @returns A `fetch` handler that never throws: every request gets an answer of the contract.
 */
export function createHandler(
  lookup: Lookup,
): (request: Request) => Promise<Response> {
  return async (request) => respond(await decide(request, lookup));
}

async function decide(request: Request, lookup: Lookup): Promise<Outcome> {
  if (request.method === "OPTIONS") return "preflight";
  if (request.method !== "POST") return "method_not_allowed";

  const check = await readActivationCheck(request);
  return typeof check === "string" ? check : await lookup(check);
}
