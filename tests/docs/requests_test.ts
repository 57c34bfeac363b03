/**
 * The requests on the pages, sent as they stand there to the service under test. They are found by
 * their language and the heading above them, and their placeholders, such as `<secret key>`, are
 * filled in. So who edits a heading edits it here, too.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readBlocks } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

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

Deno.test('requests: curl under "Deploy" → 499', async () => {
  const { stdout } = await runLine(fillIn(await readCurl("Deploy")));
  assertStringIncludes(stdout, "HTTP/1.1 499");
});

Deno.test('requests: curl under "The secret key" → 200, and 401 with a deleted key', async () => {
  const curl = await readCurl("The secret key");
  const deleted = { "secret key": "a deleted one" };
  assertStringIncludes((await runLine(fillIn(curl))).stdout, "HTTP/1.1 200");
  assertStringIncludes((await runLine(fillIn(curl, deleted))).stdout, "HTTP/1.1 401");
});

// The user is one of `supabase/seed.sql`.
Deno.test('requests: curl under "Change a single key", with the page\'s file → 200', async () => {
  await using folder = await makeTempFolder();
  const [json = ""] = await readBlocks("docs/operate.md", "json", "Change a single key");
  const file = new URL("ask.json", folder.url);
  await Deno.writeTextFile(file, json);
  const curl = fillIn(await readCurl("Change a single key"));
  const { stdout } = await runLine(curl.replace("../ask.json", () => fileURLToPath(file)));
  assertStringIncludes(stdout, "HTTP/1.1 200");
});

const BACK_END = "examples/back-end/README.md";

/** Sends a request of a page. Returns the status and the body, with a blank between them. */
async function sendBlock(block: string, values: Record<string, string>) {
  const [head = "", body = null] = fillIn(block, values).split("\n\n");
  const [request = "", ...lines] = head.split("\n");
  const [method = "", url = ""] = request.split(" ");
  const headers = lines.map((line) => line.split(": ") as [string, string]);
  const response = await fetch(url, { method, headers, body });
  return `${response.status} ${await response.text()}`;
}

Deno.test('requests: the POST under "Watch" → 200 for a name with a key, and 499 for another one', async () => {
  await using monitor = await service.issueKeys(["monitor"]);
  const { project_id } = monitor;
  const [post = ""] = await readBlocks("docs/operate.md", "http", "Watch");
  const statusFor = async (name: string) => parseInt(await sendBlock(post, { project_id, name }));
  assertEquals(await statusFor("monitor"), 200);
  assertEquals(await statusFor("nobody"), 499);
});

Deno.test('requests: the POST under "Issue a key", sent twice → 201, and then 409', async () => {
  const values = { key: crypto.randomUUID(), project_id: crypto.randomUUID() };
  const [post = ""] = await readBlocks(BACK_END, "http", "Issue a key");
  const statuses = [];
  for (const _nth of [1, 2]) statuses.push(parseInt(await sendBlock(post, values)));
  await service.changeKeys("DELETE", `?id=eq.${values.key}`);
  assertEquals(statuses, [201, 409]);
});

Deno.test("requests: those of the first use give Amelia an unused key of the product, and no other", async () => {
  await using product = await service.issueKeys([null, "Bessie"]);
  const { keys: [unused, bessies], project_id } = product;
  const amelias = { ...unused!, curr_user: "Amelia" };
  const uses = [
    { key: bessies!.id, project_id, patch: [], get: [bessies] },
    { key: unused!.id, project_id: crypto.randomUUID(), patch: [], get: [] },
    { key: unused!.id, project_id, patch: [amelias], get: [amelias] },
    { key: unused!.id, project_id, patch: [], get: [amelias] }, // It is repeated.
  ];
  const [patch = "", get = ""] = await readBlocks(BACK_END, "http", "The first use in other");
  for (const use of uses) {
    const values = { key: use.key, project_id: use.project_id, name: "Amelia" };
    assertEquals(await sendBlock(patch, values), `200 ${JSON.stringify(use.patch)}`);
    assertEquals(await sendBlock(get, values), `200 ${JSON.stringify(use.get)}`);
  }
});

Deno.test("requests: the new name is written into a used key, and not into an unused one", async () => {
  await using product = await service.issueKeys(["Amelia", "Bessie", null]);
  const { keys: [amelias, , unused], project_id } = product;
  const [rename = ""] = await readBlocks(BACK_END, "http", "Change the name of a key");
  const renamed = [{ ...amelias, curr_user: "Charles" }];
  const values = { name: "Charles" };
  assertEquals(await sendBlock(rename, { ...values, key: unused!.id }), "200 []");
  assertEquals(
    await sendBlock(rename, { ...values, key: amelias!.id }),
    `200 ${JSON.stringify(renamed)}`,
  );
  await assertResponse(service.ask(project_id, "Charles"), ACTIVE);
  await assertResponse(service.ask(project_id, "Amelia"), NOT_FOUND);
  await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
});

Deno.test("requests: a key is revoked, and no other one; repeated, the request still gets 200", async () => {
  await using product = await service.issueKeys(["Amelia", "Bessie"]);
  const { keys: [amelias], project_id } = product;
  const [revoke = ""] = await readBlocks(BACK_END, "http", "Revoke a key after a refund");
  assertStringIncludes(await sendBlock(revoke, { key: amelias!.id }), '"curr_user":"Amelia"');
  assertEquals(await sendBlock(revoke, { key: amelias!.id }), "200 []");
  await assertResponse(service.ask(project_id, "Amelia"), NOT_FOUND);
  await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
});

// The unused key of `supabase/seed.sql`. Each start of the local stack has it anew.
Deno.test("README.md: a user gets 499, the first use of a key is recorded, and the user gets 200", async () => {
  const blocks = (await readBlocks("README.md", "sh", "Run it")).map((block) => fillIn(block));
  const [ask = "", record = ""] = blocks.filter((block) => block.startsWith("curl"));
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 499");
  const { stdout } = await runLine(record);
  assertStringIncludes(stdout, '[{"id":"c47483a5-3d7d-49ae-a026-b9fbe3b175b1"}]');
  assertStringIncludes((await runLine(ask)).stdout, '{"success":true}');
});
