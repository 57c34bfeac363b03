/** Callers that misbehave on the wire: others are served meanwhile, and nothing is logged. */
import { assertEquals } from "@std/assert";
import {
  ACTIVE,
  DATABASE_ERROR,
  METHOD_NOT_ALLOWED,
  TOO_LARGE,
} from "../support/contract.ts";
import {
  aRow,
  logged,
  productOf,
  respondWith,
  startFunctionOnStub,
} from "../support/data_api_stub.ts";
import {
  assertExchange,
  assertResponse,
  check,
  exchange,
  hangUp,
  postHead,
} from "../support/requests.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const BODY = JSON.stringify({ username: "a", project_id: PRODUCT });
const CHUNKED = postHead("Transfer-Encoding: chunked");

const failLookup = respondWith(400, "{}");
const edgeFunction = await startFunctionOnStub((response, url) =>
  (productOf(url) === PRODUCT ? aRow : failLookup)(response, url)
);
const { url } = edgeFunction;
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());

/** What callers send before they hang up. */
const HANGS_UP = {
  "within a declared body": postHead("Content-Length: 100") + '{"username":"a"',
  "within a chunk": CHUNKED + "ff\r\n{",
  "within a body that is too long": CHUNKED + "5000\r\n" + "x".repeat(0x5000),
  "before the response": postHead(`Content-Length: ${BODY.length}`) + BODY,
};

for (const [when, text] of Object.entries(HANGS_UP)) {
  Deno.test(`caller: one that hangs up ${when} does not disturb others`, async () => {
    const hangingUp = Promise.all([1, 2, 3].map(() => hangUp(url, text)));
    // Others are served all the while, and afterwards.
    await assertResponse(check(PRODUCT, "a", url), ACTIVE);
    await hangingUp;
    await assertResponse(check(PRODUCT, "a", url), ACTIVE);
  });
}

const CHUNKS = [[1_000, ACTIVE], [2_048, TOO_LARGE]] as const;
for (const [chunks, expected] of CHUNKS) {
  Deno.test(`caller: a body in ${chunks} chunks → ${expected.status}`, async () => {
    const spaces = "1\r\n \r\n".repeat(chunks - 1);
    const rest = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
    assertExchange(await exchange(url, CHUNKED + spaces + rest), expected);
  });
}

Deno.test("caller: the method post is not POST", async () => {
  const text = await exchange(url, CHUNKED.replace("POST", "post"));
  assertExchange(text, METHOD_NOT_ALLOWED);
});

Deno.test("caller: none of these leaves a line in the log", async () => {
  // A failed lookup leaves one, after any that others have left.
  await assertResponse(check(crypto.randomUUID(), "a", url), DATABASE_ERROR);
  const lines = await logged(edgeFunction, 1);
  assertEquals(lines.map(({ code }) => code), ["http_400"]);
});
