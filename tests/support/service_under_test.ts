import type { Service } from "../../tools/stack/local_service.ts";

/**
 * The service under test: the local stack, `supabase start` or a deployed project. The task that
 * runs the tests says which, by environment variables.
 *
 * @throws {Error} When the tests were not run by a task.
 */
export function serviceUnderTest(): Service {
  return {
    API_URL: variable("API_URL"),
    PUBLISHABLE_KEY: variable("PUBLISHABLE_KEY"),
    SECRET_KEY: variable("SECRET_KEY"),
  };
}

function variable(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new Error(
    `${name} is not set. Run this test by a task: deno task test --filter "<name>"`,
  );
}
