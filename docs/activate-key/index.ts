/**
 * Example of a back end: makes an activation key the key of a user. Copy this folder into a Supabase
 * project as an edge function of its own, as `docs/deploy.md` says. That page lists the statuses.
 * POST `{"key", "project_id", "username"}`: the key that the customer received, the product's UUID,
 * and the user's name exactly as the add-on will send it to `check-username-active`.
 */
import { createClient } from "@supabase/supabase-js";
import { corsHeaders } from "@supabase/supabase-js/cors";
import * as z from "zod";

// Strict, because replacing an invalid byte would record another name than the user's.
const utf8 = new TextDecoder("utf-8", { fatal: true });
const METHODS = "POST, OPTIONS";
const HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-store",
};
const PREFLIGHT_HEADERS = {
  ...corsHeaders,
  ...HEADERS,
  "Access-Control-Allow-Methods": METHODS,
  "Access-Control-Max-Age": "86400", // Seconds.
};

const Activation = z.object({
  key: z.guid(),
  project_id: z.guid(),
  // The names that `check-username-active` accepts: it rejects every other name.
  username: z.string().check(z.regex(/^[^\0\p{Surrogate}]{1,256}$/u)),
});

const activationKeys = createClient(...readEnvironment(), {
  auth: { persistSession: false, autoRefreshToken: false },
  db: { timeout: 5_000, retry: false }, // Milliseconds, for each query.
}).from("activation_keys");

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") {
      return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
    }
    const status = request.method === "POST" ? await activate(request) : 405;
    const headers = { ...HEADERS, ...(status === 405 && { Allow: METHODS }) };
    return Response.json({ activated: status === 200 }, { status, headers });
  },
};

/** Activates the key of a request, and returns the status of the response. */
async function activate(request: Request): Promise<number> {
  const json = await request.bytes().then((bytes) => utf8.decode(bytes))
    .then(JSON.parse).catch(() => undefined);
  const { success, data: wanted } = Activation.safeParse(json);
  if (!success) return 400;
  const key = { id: wanted.key, project_id: wanted.project_id };
  // This statement decides. It changes the key only while the key has no user, so of two users who
  // send the same key at the same time, one gets it.
  let result = await activationKeys.update({ curr_user: wanted.username })
    .match(key).is("curr_user", null).select("curr_user");
  // If nothing was changed, the key has a user already, or this product has no such key.
  const isUnchanged = result.data?.length === 0;
  if (isUnchanged) result = await activationKeys.select("curr_user").match(key);
  const { data, error, status } = result;
  if (!Array.isArray(data)) {
    console.error({ event: "activation_failed", status, code: error?.code });
    return 500; // The message of the error is not logged, because it may contain the name.
  }
  if (data.length === 0) return 422; // A 404 comes from the platform: no such function.
  return data[0]?.curr_user === wanted.username ? 200 : 409;
}

function readEnvironment(): [url: string, secretKey: string] {
  try {
    const keys = JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") ?? "");
    const url = z.url().parse(Deno.env.get("SUPABASE_URL"));
    return [url, z.string().parse(keys.default)];
  } catch {
    // Without the caught error, whose message may contain a secret key.
    throw new Error("activate-key needs SUPABASE_URL and a key `default`.");
  }
}
