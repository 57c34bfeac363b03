/** Callers that misbehave on the wire: others are served meanwhile, and the function logs nothing. */
import { assertEquals } from "@std/assert";
import {
  ACTIVE,
  DATABASE_ERROR,
  type Expected,
  LIMITS,
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
  post,
} from "../support/requests.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const BODY = JSON.stringify({ username: "a", project_id: PRODUCT });
const CHUNKED = post("Transfer-Encoding: chunked");

const failLookup = respondWith(400, "{}");
const edgeFunction = await startFunctionOnStub((response, url) =>
  (productOf(url) === PRODUCT ? aRow : failLookup)(response, url)
);
const { url } = edgeFunction;
Deno.test.afterAll(() => edgeFunction[Symbol.asyncDispose]());

/** What callers send before they hang up. */
const HANGS_UP = {
  "within a declared body": post("Content-Length: 100") + '{"username":"a"',
  "within a chunk": CHUNKED + "ff\r\n{",
  "within a body that is too long": `${CHUNKED}5000\r\n${
    "x".repeat(0x5000)
  }\r\n`,
  "before the response": post(`Content-Length: ${BODY.length}`) + BODY,
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

/** A request whose body has this many chunks: single spaces, and then the JSON. */
const inChunks = (chunks: number) =>
  `${CHUNKED}${"1\r\n \r\n".repeat(chunks - 1)}` +
  `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** What is sent, and the response. The exact limits are in `body_test.ts`. */
const ROWS: [what: string, text: string, expected: Expected][] = [
  ["1,000 chunks", inChunks(LIMITS.bodyPieces - 24), ACTIVE],
  ["2,048 chunks", inChunks(2 * LIMITS.bodyPieces), TOO_LARGE],
  ["the method post", CHUNKED.replace("POST", "post"), METHOD_NOT_ALLOWED],
];

for (const [what, text, expected] of ROWS) {
  Deno.test(`caller: ${what} → ${expected.status}`, async () => {
    assertExchange(await exchange(url, text), expected);
  });
}

Deno.test("caller: none of these leaves a line in the log", async () => {
  // A failed lookup leaves one, after any that others have left.
  const response = check(crypto.randomUUID(), "a", url);
  await assertResponse(response, DATABASE_ERROR);
  const lines = await logged(edgeFunction, 1);
  assertEquals(lines.map(({ code }) => code), ["http_400"]);
});
