import type { Service } from "../../tools/stack/local_service.ts";

/**
 * The service under test: the local stack, `supabase start` or a deployed project. The task that
 * runs the tests says which, by environment variables.
 *
 * @returns Where it is, and its keys. Reading one that is not there throws.
 */
export function serviceUnderTest(): Service {
  return {
    API_URL: variable("API_URL"),
    get PUBLISHABLE_KEY() {
      return variable("PUBLISHABLE_KEY");
    },
    get SECRET_KEY() {
      return variable("SECRET_KEY");
    },
  };
}

/** Whether there is no secret key, so that no test may write. */
export const isReadOnly = !Deno.env.get("SECRET_KEY");

function variable(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new Error(
    `${name} is not set. Run this test by a task: deno task test --filter "<name>"`,
  );
}
