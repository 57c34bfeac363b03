/**
 * Tells a simulator add-on whether a user holds an active activation key for a product.
 *
 * A request travels `handler.ts` → `request.ts` → `activation_keys.ts` → `responses.ts`.
 */
import { createLookup } from "./activation_keys.ts";
import { readEnvironment } from "./environment.ts";
import { createHandler } from "./handler.ts";

// Made once for each isolate: a client for each request would cost two thirds of the throughput.
const lookup = createLookup(readEnvironment(Deno.env));

export default { fetch: createHandler(lookup) };
