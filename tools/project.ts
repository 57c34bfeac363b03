/** The project's root. */
export const PROJECT = new URL("../", import.meta.url);

/** Path of the edge function's folder in the project, and in what is deployed. */
export const FUNCTION_FOLDER_PATH = "supabase/functions/check-username-active/";

export const FUNCTION_FOLDER = new URL(FUNCTION_FOLDER_PATH, PROJECT);

/** Path of the edge function in its address, as on a hosted project. */
export const FUNCTION_URL_PATH = "/functions/v1/check-username-active";

/** The body of a request for an active user, one of `supabase/seed.sql`. */
export const SEEDED = {
  username: "CaptainKirin#0417",
  project_id: "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4",
};
