/** The requests on the pages, sent as they stand there, with their placeholders filled in. */
import { createServer } from "node:net";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
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
Deno.test("README.md: a user gets 499, the first use of a key prints true, and the user gets 200", async () => {
  const blocks = (await readBlocks("README.md", "sh", "Run it")).map((block) => filled(block));
  const [ask = "", activate = ""] = blocks.filter((block) => block.startsWith("curl"));
  assertStringIncludes((await runLine(ask)).stdout, "HTTP/1.1 499");
  assertEquals((await runLine(activate)).stdout, "true");
  assertStringIncludes((await runLine(ask)).stdout, '{"success":true}');
});

type Call = (name: string, values: Record<string, string>) => Promise<unknown>;
/** Loads `call` of `docs/back-end.md`, for the Data API at an address. */
async function loadCall(apiUrl: string): Promise<Call> {
  const [code = ""] = await readBlocks("docs/back-end.md", "ts");
  const ready = fillIn(code, { "secret key": SECRET_KEY }, apiUrl) + "\nexport { call };";
  return (await import(`data:application/typescript,${encodeURIComponent(ready)}`)).call;
}

Deno.test("back-end.md: `call` returns each kind of answer", async () => {
  const call = await loadCall(service.settings.API_URL);
  const item = { order_item: "1234-77-1", project_id: crypto.randomUUID() };
  const key = String(await call("issue_key", item));
  const firstUse = { key, project_id: item.project_id, username: "Amelia" };
  assertEquals(await call("activate_key", firstUse), true);
  assertEquals(await call("activate_key", { ...firstUse, username: "Bessie" }), false);
  assertEquals(await call("issue_key", item), key);
  assertEquals(await call("revoke_key", item), true);
  assertEquals(await call("issue_key", item), "revoked");
});

/** Responses that are no answer, so that `call` throws an error, which quotes nothing of a body. */
const NO_ANSWERS = [
  { when: "a redirect to another server", status: 307, body: "" },
  { when: "HTML", status: 200, body: "<h1>SECRET</h1>" },
  { when: "an empty 200", status: 200, body: "" },
  { when: "an object", status: 200, body: "{}" },
  { when: "a list", status: 200, body: '["SECRET"]' },
  { when: "null", status: 200, body: "null" },
  { when: "a key with another status", status: 201, body: '"SECRET"' },
  { when: "a 404 with a list", status: 404, body: "[]" },
];

for (const { when, status, body } of NO_ANSWERS) {
  Deno.test(`back-end.md: \`call\` throws after ${when}`, async () => {
    const headers = { Location: `${service.settings.API_URL}/elsewhere` };
    await using dataApi = serveOnLoopback(() => new Response(body, { status, headers }));
    const call = await loadCall(dataApi.url);
    const { message } = await assertRejects(() => call("issue_key", {}), Error, "");
    assertEquals(message, `issue_key: status ${status}`);
  });
}

Deno.test("back-end.md: `call` throws after 10 s if the rest of the body does not come", async () => {
  const begin = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntru";
  const silent = createServer((socket) => void socket.on("error", () => {}).resume().write(begin));
  await using dataApi = await listenOnLoopback(silent);
  const call = await loadCall(dataApi.url);
  const beganAt = performance.now();
  await assertRejects(() => call("issue_key", {}), Error, "");
  const tookMs = performance.now() - beganAt;
  assert(9_000 < tookMs && tookMs < 15_000, `${tookMs} ms`);
});
