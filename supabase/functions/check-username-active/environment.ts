/** Reads and validates the variables that the platform sets. */
import * as z from "zod";

// Secret keys under their names. A key may be empty or null: self-hosted Supabase sets an empty
// `default` beside a legacy key.
const SecretKeys = z.record(z.string(), z.string().nullable());

/**
 * Reads the variables that the platform sets.
 *
 * @returns The base address of the Supabase project's APIs, and at least one secret key: those of
 * `SUPABASE_SECRET_KEYS` that are not empty, the one named `default` first. If there are none, the
 * legacy key.
 * @throws An `Error` that names the variable that is missing or wrong, and quotes no value.
 */
export function readEnvironment(): { url: string; secretKeys: string[] } {
  const url = Deno.env.get("SUPABASE_URL");
  if (!url) throw cannotStart("SUPABASE_URL is missing");

  const { default: first, ...others } = parseSecretKeys(Deno.env.get("SUPABASE_SECRET_KEYS"));
  const keys = clean("SUPABASE_SECRET_KEYS", [first, ...Object.values(others)]);
  if (keys.length > 0) return { url, secretKeys: keys };
  const legacyKey = clean("SUPABASE_SERVICE_ROLE_KEY", [Deno.env.get("SUPABASE_SERVICE_ROLE_KEY")]);
  if (legacyKey.length > 0) return { url, secretKeys: legacyKey };
  throw cannotStart("neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY has a secret key");
}

function parseSecretKeys(text: string | undefined) {
  try {
    return SecretKeys.parse(JSON.parse(text || "{}"));
  } catch {
    // The errors of JSON and of zod are not passed on, because they quote a part of the text.
    throw cannotStart("SUPABASE_SECRET_KEYS is not a JSON object whose values are texts or null");
  }
}

/** Cuts white space off the keys of a variable, and leaves out those that are empty. */
function clean(variable: string, keys: (string | null | undefined)[]): string[] {
  const trimmed = keys.map((key) => key?.trim() ?? "").filter((key) => key !== "");
  // With any other key, each request would fail before it is sent, and no other key would be tried.
  if (trimmed.every((key) => /^[!-~]+$/.test(key))) return trimmed;
  throw cannotStart(`${variable} has a secret key that no HTTP header can carry`);
}

const cannotStart = (why: string) => new Error(`check-username-active cannot start: ${why}.`);
