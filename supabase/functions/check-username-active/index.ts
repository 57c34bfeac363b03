/**
 * Tells a simulator add-on whether a user holds an active key of a product. In the table, the
 * product of a key is its `project_id`, and the user is its `curr_user`.
 *
 * A request's way: `request.ts` (with `body.ts`) → `activation_keys.ts` (with `retries.ts`,
 * `data_api.ts` and `lookup_failure.ts`) → `responses.ts`.
 */
import { createLookup } from "./activation_keys.ts";
import { readSecretKey, readSupabaseUrl } from "./environment.ts";
import { readActivationCheck } from "./request.ts";
import { respond } from "./responses.ts";

// One for each isolate: making a supabase-js client takes longer than a request.
const lookup = createLookup(readSupabaseUrl(), readSecretKey());

export default {
  /** Responds to a request. Never throws: what goes wrong is an outcome, too. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") return respond("preflight");
    if (request.method !== "POST") return respond("method_not_allowed");

    const check = await readActivationCheck(request);
    // A string: the request is wrong, and this is the name of its response.
    return respond(typeof check === "string" ? check : await lookup(check));
  },
};
