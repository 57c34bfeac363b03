import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { TOO_LARGE } from "./answers.ts";

const CALLER = new URL("./large_body_caller.mjs", import.meta.url);

// What broke the connection of callers before the rest of a body was read: bytes, and how sent.
const BODIES = [
  "17408 chunked",
  "204800 chunked",
  "1048576 chunked",
  "3145728 declared",
];

/**
 * Fails unless each of twenty callers at once gets the 413, for bodies of several sizes.
 *
 * @param url The function's address.
 * @param command What runs a script, such as `node`, and its arguments.
 */
export async function assertTooLargeArrives(
  url: URL,
  command: string,
  ...args: string[]
): Promise<void> {
  const expected = `${TOO_LARGE.status} ${JSON.stringify(TOO_LARGE.body)}`;
  for (const body of BODIES) {
    const { stdout, stderr } = await run(
      command,
      [...args, fileURLToPath(CALLER), url.href, ...body.split(" ")],
    );
    assertEquals(
      JSON.parse(stdout || stderr),
      Array(20).fill(expected),
      `${command}, ${body}`,
    );
  }
}
