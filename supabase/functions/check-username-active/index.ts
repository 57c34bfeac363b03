/**
 * Tells a simulator add-on whether a user holds an active key of a product. Keys are rows of the
 * table `activation_keys`: `project_id` is the product, and `curr_user` is the name of the user who
 * has activated the key, or null.
 *
 * The files in the order in which a request travels: `request.ts` (which calls `body.ts`),
 * `lookup.ts` (over `connections.ts`) and `responses.ts`. The contract with callers is in the
 * project's README.md.
 */
import { createLookup } from "./lookup.ts";
import { readActivationCheck } from "./request.ts";
import { respond } from "./responses.ts";

// The platform sets these variables, so their form is not validated. But a key may be empty or null:
// self-hosted Supabase sets an empty `default` beside a legacy key. Such a key is left out.
const url = Deno.env.get("SUPABASE_URL");
const keysByName = Deno.env.get("SUPABASE_SECRET_KEYS") || "{}";
const legacyKey = Deno.env.get("SUPABASE_SERVICE_ROLE_KEY");

const { default: first = "", ...others }: Record<string, string> = JSON.parse(keysByName);
const secretKeys = [first, ...Object.values(others)].filter((key) => key);
if (secretKeys.length === 0 && legacyKey) secretKeys.push(legacyKey);
if (!url || secretKeys.length === 0) {
  const missing = url ? "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY" : "SUPABASE_URL";
  throw new Error(`check-username-active cannot start: it needs the variable ${missing}.`);
}
// Shared by all requests: making a supabase-js client costs more CPU time than a response.
const lookUp = createLookup(url, secretKeys);

export default {
  /** Responds to a request. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") return respond("preflight");
    if (request.method !== "POST") return respond("method_not_allowed");

    const read = await readActivationCheck(request);
    if ("rejectedAs" in read) return respond(read.rejectedAs);
    return respond(await lookUp(read.check));
  },
};
