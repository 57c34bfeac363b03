/** The requests on the pages, sent as they stand there, with their placeholders filled in. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECK_PATH } from "../../tools/project.ts";
import { readCommand } from "../support/operators.ts";
import { fillIn, readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import * as service from "../support/service_under_test.ts";

const { SECRET_KEY } = service.settings;

/** Fills in code of a page, with the address of the service under test. */
const filled = (code: string, values: Record<string, string> = {}) =>
  fillIn(code, { SECRET_KEY, ...values }, service.settings.API_URL);

Deno.test("requests: the curl that ends a deployment → 499", async () => {
  const { stdout } = await runLine(filled(await readCommand(/^curl .*nobody/)));
  assertStringIncludes(stdout, "HTTP/1.1 499");
});

Deno.test("requests: the monitor's POST → 200 for a name with a key, and 499 for another one", async () => {
  await using monitor = await service.issueKeys(["monitor"]);
  const [post = ""] = await readBlocks("docs/operate.md", "http", "The monitor");
  const [head, body = ""] = post.split("\n\n");
  assertEquals(head, `POST https://<service>${CHECK_PATH}\nContent-Type: application/json`);
  for (const [name, status] of [["monitor", 200], ["nobody", 499]] as const) {
    const init = { body: fillIn(body, { project_id: monitor.project_id, name }) };
    assertEquals((await service.send(init)).status, status);
  }
});

// The unused key of `supabase/seed.sql`. Each start of the local stack has it anew.
Deno.test("README.md: a user gets 499, the name is written into the row of a key, and the user gets 200", async () => {
  const blocks = (await readBlocks("README.md", "sh", "Run it")).map((block) => filled(block));
  const [ask = "", write = ""] = blocks.filter((block) => block.startsWith("curl"));
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 499");
  assertEquals((await runLine(write)).stdout, "");
  assertStringIncludes((await runLine(ask)).stdout, '{"success":true}');
});
