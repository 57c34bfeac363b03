/** The example back end, `docs/activate-key`, on the local stack and on a Data API that fails. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import * as project from "../../tools/project.ts";
import { PREFLIGHT } from "../support/contract.ts";
import { assertResponse, sendTo } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216";
/** Before each test, this key has no user. */
const UNUSED_KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
/** Before each test, Amelia has activated this key. */
const AMELIAS_KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52742";

const activation = (changes: Record<string, unknown> = {}) =>
  JSON.stringify({ key: UNUSED_KEY, project_id: PRODUCT, username: "Bessie", ...changes });

/** Returns a byte for each character: "\xeb" becomes EB, as a Windows code page writes ë. */
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** What is sent, the status, and who then is the user of the key `UNUSED_KEY`. */
const ROWS: {
  when: string;
  /** What is different from a request of Bessie's to activate the key `UNUSED_KEY`. */
  changes?: Record<string, unknown>;
  /** The whole body, if it is another one. */
  body?: BodyInit;
  status: number;
  /** By default, nobody. */
  user?: string;
}[] = [
  { when: "the key has no user yet", status: 200, user: "Bessie" },
  {
    when: "the key is in upper case",
    changes: { key: UNUSED_KEY.toUpperCase() },
    status: 200,
    user: "Bessie",
  },
  ...['a"b\\c', "null", "x,y", " a ", "Zoë"].map((name) => ({
    when: `the name is ${JSON.stringify(name)}`,
    changes: { username: name },
    status: 200,
    user: name,
  })),
  {
    when: "the name has 256 code points of two UTF-16 units each",
    changes: { username: "🛩".repeat(256) },
    status: 200,
    user: "🛩".repeat(256),
  },
  {
    when: "the same user has activated the key already",
    changes: { key: AMELIAS_KEY, username: "Amelia" },
    status: 200,
  },
  { when: "another user has activated the key", changes: { key: AMELIAS_KEY }, status: 409 },
  {
    when: "the name differs from the key's user in its case alone",
    changes: { key: AMELIAS_KEY, username: "amelia" },
    status: 409,
  },
  { when: "the key is of another product", changes: { project_id: OTHER_PRODUCT }, status: 422 },
  { when: "there is no such key", changes: { key: crypto.randomUUID() }, status: 422 },
  { when: "the body is no JSON", body: "key=1", status: 400 },
  {
    when: "the name is in Latin-1 instead of UTF-8",
    body: bytes(activation({ username: "Zo\xeb" })),
    status: 400,
  },
  { when: "the key is missing", changes: { key: undefined }, status: 400 },
  { when: "the key is no UUID", changes: { key: "ABCD-1234" }, status: 400 },
  // In an address, the # would cut off the conditions behind the key.
  { when: "there is a # behind the key", changes: { key: `${AMELIAS_KEY}#` }, status: 400 },
  { when: "the product is missing", changes: { project_id: undefined }, status: 400 },
  { when: "the product is no UUID", changes: { project_id: "a product" }, status: 400 },
  { when: "the name is missing", changes: { username: undefined }, status: 400 },
  { when: "the name is a number", changes: { username: 7 }, status: 400 },
  { when: "the name is empty", changes: { username: "" }, status: 400 },
  { when: "the name has 257 code points", changes: { username: "a".repeat(257) }, status: 400 },
  { when: "the name contains U+0000", changes: { username: "a\0b" }, status: 400 },
  { when: "the name contains a lone surrogate", changes: { username: "a\ud83d" }, status: 400 },
];

const send = (init: RequestInit) => sendTo(service.urlOf(project.ACTIVATE_PATH), init);

/** Issues both keys. Disposing of the result removes them. */
async function issueBothKeys() {
  await service.changeKeys("POST", "", [
    { id: UNUSED_KEY, project_id: PRODUCT, curr_user: null },
    { id: AMELIAS_KEY, project_id: PRODUCT, curr_user: "Amelia" },
  ]);
  const remove = () => service.changeKeys("DELETE", `?project_id=eq.${PRODUCT}`);
  return { [Symbol.asyncDispose]: remove };
}

/** Reads who is the user of a key, with the secret key. */
async function userOf(key: string): Promise<string | null> {
  const search = `?id=eq.${key}&select=curr_user`;
  const url = service.urlOf(`/rest/v1/activation_keys${search}`);
  const headers = { apikey: service.settings.SECRET_KEY };
  const [row] = await (await fetch(url, { headers })).json();
  return row.curr_user;
}

for (const { when, changes, status, user = null, ...row } of ROWS) {
  const result = user ? `${status}, and this name is stored` : status;
  Deno.test(`activate-key: ${when} → ${result}`, async () => {
    await using _keys = await issueBothKeys();
    const { body = activation(changes) } = row;
    const expected = { status, body: { activated: status === 200 } };
    await assertResponse(send({ body }), expected);
    assertEquals(await userOf(UNUSED_KEY), user, "user of the unused key");
    assertEquals(await userOf(AMELIAS_KEY), "Amelia", "user of Amelia's key");
  });
}

Deno.test("activate-key: the method is GET → 405", () =>
  assertResponse(send({ method: "GET" }), {
    status: 405,
    body: { activated: false },
    headers: { "allow": "POST, OPTIONS" },
  }));

Deno.test("activate-key: the method is OPTIONS → 204, with the CORS headers of check-username-active", () =>
  assertResponse(send({ method: "OPTIONS" }), PREFLIGHT));

Deno.test("activate-key: fifty users send one key at once → one gets it", async () => {
  await using _keys = await issueBothKeys();
  const pilots = Array.from({ length: 50 }, (_, number) => `Pilot ${number}`);
  const statuses = await Promise.all(pilots.map(async (username) => {
    const response = await send({ body: activation({ username }) });
    await response.body?.cancel();
    return response.status;
  }));
  const winner = pilots[statuses.indexOf(200)];
  assertEquals(await userOf(UNUSED_KEY), winner);
  assertEquals(statuses.toSorted(), [200, ...Array(49).fill(409)]);
});

const folder = new URL(project.EXAMPLE_FOLDER_PATH, project.PROJECT);

/** What the Data API sends for every query. Neither the user's name nor the host may be logged. */
const FAILURES = [
  {
    when: "the Data API denies the query",
    sends: { status: 403, body: { code: "42501", message: "Bessie, denied on db.example" } },
  },
  { when: "a 503 comes", sends: { status: 503, body: { message: "Bessie, no db.example" } } },
  { when: "a row comes without a list", sends: { status: 200, body: { curr_user: "Bessie" } } },
];

for (const { when, sends } of FAILURES) {
  Deno.test(`activate-key: ${when} → 500, and neither name nor host is logged`, async () => {
    const { status, body } = sends;
    await using dataApi = serveOnLoopback(() => Response.json(body, { status }));
    await using example = await startFunction(dataApi.url, { folder });
    const expected = { status: 500, body: { activated: false } };
    await assertResponse(sendTo(example.url, { body: activation() }), expected);
    const logged = example.output();
    assert(logged.includes("activation_failed"), logged);
    assert(!/Bessie|db\.example/.test(logged), logged);
  });
}

for (const keys of ["", "s3cr3t", '{"other":"s3cr3t"}']) {
  Deno.test(`activate-key: SUPABASE_SECRET_KEYS is ${keys || "empty"} → it does not start, and quotes no key`, async () => {
    const env = { SUPABASE_SECRET_KEYS: keys };
    const start = () => startFunction("http://127.0.0.1", { folder, env });
    const { message } = await assertRejects(start, Error, "a key `default`");
    assert(!message.includes("s3cr3t"), message);
  });
}
