/**
 * Tells a simulator add-on whether a user holds an active key of a product. Keys are rows of the
 * table `activation_keys`: `project_id` is the product, and `curr_user` is the name of the user who
 * has activated the key, or null.
 *
 * The files in the order in which a request travels: `request.ts` (which calls `body.ts`),
 * `lookup.ts` (which calls `query.ts`, over `connections.ts`) and `responses.ts`. At the start,
 * `environment.ts` reads the platform's variables. The contract with callers is in the project's
 * README.md.
 */
import { readEnvironment } from "./environment.ts";
import { createLookup } from "./lookup.ts";
import { readActivationCheck } from "./request.ts";
import { respond } from "./responses.ts";

const { url, secretKeys } = readEnvironment();
// Shared by all requests: making a supabase-js client costs more CPU time than a response.
const lookUp = createLookup(url, secretKeys);

export default {
  /** Responds to a request. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") return respond("preflight");
    if (request.method !== "POST") return respond("method_not_allowed");

    const result = await readActivationCheck(request);
    if ("rejectedAs" in result) return respond(result.rejectedAs);
    return respond(await lookUp(result.check));
  },
};
