/**
 * The requests on `docs/operate.md` and in `README.md`, sent as they stand there to the service under
 * test. They are found by their language and the heading above them, and their placeholders, such as
 * `<key>`, are filled in. So who edits a heading edits it here, too.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";

/**
 * Fills in placeholders, and puts the address of the service under test in the place of
 * `https://<ref>.supabase.co`, `https://<service>` and `http://127.0.0.1:54321`.
 */
function fillIn(code: string, values: Record<string, string> = {}) {
  const { SECRET_KEY, API_URL } = service.settings;
  let filled = code;
  for (const [name, value] of Object.entries({ SECRET_KEY, "secret key": SECRET_KEY, ...values })) {
    filled = filled.replaceAll(`<${name}>`, () => value);
  }
  return filled.replace(/https?:..(<ref>.supabase.co|<service>|127.0.0.1:54321)/, API_URL);
}

/** Reads the first curl under a heading of `docs/operate.md`. */
async function readCurl(heading: string): Promise<string> {
  const blocks = await readBlocks("docs/operate.md", "sh", heading);
  return blocks.find((block) => block.startsWith("curl"))!;
}

/** What the first curl under a heading prints, with these values. `monitor` has a key of `<product>`. */
const REQUESTS = [
  { heading: "Deploy", values: {}, prints: "HTTP/1.1 499" },
  { heading: "Watch", values: { name: "monitor" }, prints: "HTTP/1.1 200" },
  { heading: "The secret key", values: { "secret key": "a deleted one" }, prints: "HTTP/1.1 401" },
];

for (const { heading, values, prints } of REQUESTS) {
  const filledIn = JSON.stringify(values);
  Deno.test(`requests: curl under "${heading}", with ${filledIn} → ${prints}`, async () => {
    await using monitor = await service.issueKeys(["monitor"]);
    const product = monitor.project_id;
    const { stdout } = await runLine(fillIn(await readCurl(heading), { product, ...values }));
    assertStringIncludes(stdout, prints);
  });
}

Deno.test('requests: curl under "Issue keys", when it is sent twice → 201, and then 409', async () => {
  const [key, product] = [crypto.randomUUID(), crypto.randomUUID()];
  const curl = fillIn(await readCurl("Issue keys"), { key, product });
  const [first, second] = [await runLine(curl), await runLine(curl)];
  await service.changeKeys("DELETE", `?id=eq.${key}`);
  assertStringIncludes(first.stdout, "HTTP/1.1 201");
  assertStringIncludes(second.stdout, "HTTP/1.1 409");
});

const [PATCH = "", GET = ""] = await readBlocks("docs/operate.md", "http", "The first use");

/** Sends one of the page's two requests. Returns the rows that come back. */
async function sendBlock(block: string, key: string, product: string, name: string) {
  // A name stands between the quotation marks of JSON.
  const jsonName = JSON.stringify(name).slice(1, -1);
  const filled = fillIn(block, { key, product, name: jsonName });
  const [head = "", body = null] = filled.split("\n\n");
  const [request = "", ...headers] = head.split("\n");
  const [method = "", url = ""] = request.split(" ");
  const response = await fetch(url, {
    method,
    headers: headers.map((header) => header.split(": ") as [string, string]),
    body,
  });
  assertEquals(response.status, 200);
  const rows: { curr_user?: string }[] = await response.json();
  return rows;
}

/** Records the first use of a key with the two requests, as the page says. */
async function recordFirstUse(key: string, product: string, name: string): Promise<boolean> {
  const changed = await sendBlock(PATCH, key, product, name);
  if (changed.length === 1) return true;
  const [row] = await sendBlock(GET, key, product, name);
  return row?.curr_user === name;
}

const ODD = [" a", "null", "true", "{a}", `a,b.c:d(e)"f"\\g`, "100%_*", "is.null", "O'Dea", "小雪"];
/** If this name were a part of the address, it would find used keys, too. */
const HARMFUL = "x,curr_user.not.is.null";

for (const name of [...ODD, HARMFUL]) {
  Deno.test(`first use: ${name} gets an unused key, gets it again, and gets no other key`, async () => {
    await using product = await service.issueKeys([null, "Bessie"]);
    const { keys: [unused, bessies], project_id } = product;
    assertEquals(await recordFirstUse(unused!.id, OTHER_PRODUCT, name), false, "wrong product");
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "at first");
    assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "again");
    assertEquals(await recordFirstUse(unused!.id, project_id, "Bessie"), false, "another user");
    assertEquals(await recordFirstUse(bessies!.id, project_id, name), false, "Bessie's key");
    // The function finds both users afterwards, so Bessie's key is still hers.
    await assertResponse(service.ask(project_id, name), ACTIVE);
    await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
    await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
  });
}

// The unused key of `supabase/seed.sql`. Each start of the local stack has it anew.
Deno.test("README.md: a user gets 499, the first use of a key is recorded, and the user gets 200", async () => {
  const blocks = (await readBlocks("README.md", "sh", "Run it")).map((block) => fillIn(block));
  const [ask = "", record = ""] = blocks.filter((block) => block.startsWith("curl"));
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 499");
  const { stdout } = await runLine(record);
  assertStringIncludes(stdout, '[{"id":"c47483a5-3d7d-49ae-a026-b9fbe3b175b1"}]');
  assertStringIncludes((await runLine(ask)).stdout, '{"success":true}');
});
