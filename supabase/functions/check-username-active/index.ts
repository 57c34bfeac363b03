/**
 * Tells a simulator add-on whether a user holds an active key of a product. In the table, the
 * product of a key is its `project_id`, and the user is its `curr_user`.
 *
 * At the start: `environment.ts`. The way of a request: `request.ts` (with `body.ts`) →
 * `lookup.ts` → `responses.ts`. The contract with callers is in the project's README.md.
 */
import { readSecretKey, readSupabaseUrl } from "./environment.ts";
import { createLookup } from "./lookup.ts";
import { readActivationCheck } from "./request.ts";
import { respond } from "./responses.ts";

// One for each isolate: making a supabase-js client takes more CPU time than a request.
const lookup = createLookup(readSupabaseUrl(), readSecretKey());

export default {
  /** Responds to a request. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") return respond("preflight");
    if (request.method !== "POST") return respond("method_not_allowed");

    const read = await readActivationCheck(request);
    return respond("problem" in read ? read.problem : await lookup(read.check));
  },
};
