import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/run.ts";
import { TOO_LARGE } from "./answers.ts";

/**
 * Fails unless each of twenty callers at once gets the 413, for bodies of four kinds.
 *
 * @param url The function's address.
 * @param client The command that runs a script, such as `["node"]`.
 */
export async function assertTooLargeArrives(
  url: URL,
  [command, ...args]: [string, ...string[]],
): Promise<void> {
  const caller = new URL("./large_body_caller.mjs", import.meta.url);
  const { stdout, stderr } = await run(
    command,
    [...args, fileURLToPath(caller), url.href],
  );
  const expected = `${TOO_LARGE.status} ${JSON.stringify(TOO_LARGE.body)}`;
  assertEquals(JSON.parse(stdout || stderr), Array(80).fill(expected), command);
}
