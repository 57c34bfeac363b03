import type { Service } from "./stack/stack.ts";

/**
 * Makes the command that runs tests.
 *
 * @param args Arguments of `deno test`, paths from the project's root among them.
 * @param service What to test: the tests find it by environment variables.
 */
export function runTests(args: string[], service?: Service): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", ...args],
    cwd: new URL("..", import.meta.url),
    env: { ...service },
  });
}
