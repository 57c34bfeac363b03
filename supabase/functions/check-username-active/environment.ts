import * as z from "zod";

const Url = z.url({ protocol: /^https?$/ });
// Visible ASCII: a key with a line break could not be sent, so every lookup would fail.
const Key = z.string().regex(/^[\x21-\x7e]+$/);

/**
 * Reads `SUPABASE_URL`, the base address of the Supabase project's APIs.
 *
 * @throws {Error} When the variable is missing or malformed, which stops the boot. The message
 * names the variable and never contains its value.
 */
export function readSupabaseUrl(): string {
  return Url.safeParse(Deno.env.get("SUPABASE_URL")).data ??
    fail("SUPABASE_URL must be an http or https address");
}

/**
 * Reads the secret key for the Data API: from `SUPABASE_SECRET_KEYS`, or from the legacy
 * `SUPABASE_SERVICE_ROLE_KEY` if the former is not set, is empty, or is `{}`.
 *
 * @throws {Error} When the variable that is read is missing or malformed, which stops the boot. The
 * message names the variables and never contains a value.
 */
export function readSecretKey(): string {
  try {
    const json = Deno.env.get("SUPABASE_SECRET_KEYS") || "{}";
    const keys = z.record(z.string(), z.unknown()).parse(JSON.parse(json));
    // `createAdminClient` of `@supabase/server` chooses among several keys in the same way.
    const key = keys.default ?? Object.values(keys)[0];
    if (key !== undefined) return Key.parse(key);
  } catch {
    // The caught error is not passed on, because its message would quote a secret key.
    fail("SUPABASE_SECRET_KEYS must be a JSON object of secret keys");
  }
  return Key.safeParse(Deno.env.get("SUPABASE_SERVICE_ROLE_KEY")).data ??
    fail("SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY must hold a key");
}

function fail(requirement: string): never {
  throw new Error(`check-username-active cannot start: ${requirement}.`);
}
