import * as z from "zod/mini";

// No query, no fragment; and no credentials: `fetch` would send them beside the key.
const Url = z.string().check(
  z.regex(/^[^@?#\s]*$/),
  z.url({ protocol: /^https?$/ }),
);
// Visible ASCII: with a line break in it, the boot would succeed and every lookup fail.
const Key = z.string().check(z.regex(/^[\x21-\x7e]+$/));

/**
 * Reads the base address of the project's APIs.
 *
 * @throws {Error} When it is missing or malformed, which stops the boot. The message names the
 * variable, never its value.
 */
export function readSupabaseUrl(): string {
  return Url.safeParse(Deno.env.get("SUPABASE_URL")).data ??
    fail("SUPABASE_URL must be a bare http or https address");
}

/**
 * Reads the key whose role may read the table, from the current variable or else the legacy one.
 *
 * @throws {Error} As `readSupabaseUrl` does.
 */
export function readSecretKey(): string {
  try {
    const json = Deno.env.get("SUPABASE_SECRET_KEYS") || "{}";
    const keys = z.record(z.string(), z.unknown()).parse(JSON.parse(json));
    // `createAdminClient` of `@supabase/server` chooses in the same way.
    const key = keys.default ?? Object.values(keys)[0];
    // Without any key, the legacy variable decides.
    if (key !== undefined) return Key.parse(key);
  } catch {
    // Malformed. The error is dropped, because its message would quote a secret.
    fail("SUPABASE_SECRET_KEYS must be a JSON object of secret keys");
  }
  return Key.safeParse(Deno.env.get("SUPABASE_SERVICE_ROLE_KEY")).data ??
    fail("SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY must hold a key");
}

function fail(requirement: string): never {
  throw new Error(`check-username-active cannot start: ${requirement}.`);
}
