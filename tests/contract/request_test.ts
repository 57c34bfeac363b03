/**
 * What is sent, and the response: the contract's tables in README.md. Tested elsewhere are the 408
 * (`body_test.ts`) and the 500 (`lookup_test.ts`).
 */
import * as CONTRACT from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const { ACTIVE, LIMITS, METHOD_NOT_ALLOWED } = CONTRACT;
const { isReadOnly, issueKeys, send } = service;
const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = "Zoë Brückner#4821";

/** Returns a well-formed body as JSON, with these changes. `undefined` leaves a field out. */
const body = (changes: Record<string, unknown> = {}): string =>
  JSON.stringify({ username: USER, project_id: PRODUCT, ...changes });

/** Returns a byte for each character: "\xeb" becomes EB. */
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** Returns a well-formed body of this many bytes. The ë and the ü of the name take two each. */
const bodyOf = (length: number) =>
  new TextEncoder().encode(body().padEnd(length - 2));

const streamed = (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream();

/** Returns a body for each value of a field, under a name that shows the value. */
const having = (field: string, ...values: unknown[]) =>
  Object.fromEntries(values.map((value) => [
    `${field} ${JSON.stringify(value)}`,
    body({ [field]: value }),
  ]));

type Expected = CONTRACT.Expected;
type Row = [name: string, init: RequestInit, expected: Expected];

const posts = (expected: Expected, bodies: Record<string, BodyInit>): Row[] =>
  Object.entries(bodies).map(([name, body]) => [name, { body }, expected]);

const CREDENTIALS = { Authorization: "Bearer x", apikey: "x" };
const LONGEST = "a".repeat(LIMITS.name);
const PLANES = "🛩".repeat(LIMITS.name); // Of two UTF-16 code units each.
const WRONG_TYPES = [7, 0, true, false, [], [USER], [PRODUCT], {}];

const ROWS: Row[] = [
  // 200: a record has this project_id and exactly this curr_user.
  ...posts(ACTIVE, {
    "text/plain": body(), // What fetch sends with a string.
    "application/json": new Blob([body()], { type: "application/json" }),
    "image/png": new Blob([body()], { type: "image/png" }),
    "no Content-Type": new Blob([body()]),
    "unknown fields, which are ignored": body({ user: null, extra: [] }),
    "white space around the JSON": ` \r\n\t${body()}\n`,
    "a byte order mark, which C# writers send": "\ufeff" + body(),
    "an escaped user name": body().replace("Zoë", "\\u005ao\\u00eb"),
    "an upper-case project_id": body({ project_id: PRODUCT.toUpperCase() }),
    "a field twice": `{"username":7,${body().slice(1)}`,
    "exactly the limit": bodyOf(LIMITS.bodyBytes),
    "exactly the limit, not declared": streamed(bodyOf(LIMITS.bodyBytes)),
  }),
  ["ignored credentials", { body: body(), headers: CREDENTIALS }, ACTIVE],

  // 499: no record has.
  ...posts(CONTRACT.NOT_FOUND, {
    "another user": body({ username: "somebody else" }),
    "another project": body({ project_id: crypto.randomUUID() }),
    "the longest name": body({ username: LONGEST }),
    "the longest name, beyond the BMP": body({ username: PLANES }),
    "a line break in the user name": body({ username: "a\nb" }),
    // Three UUIDs: of a variant that RFC 9562 does not have, the smallest, and the largest.
    ...having(
      "project_id",
      ...["1", "0", "f"].map((digit) => PRODUCT.replaceAll(/\w/g, digit)),
    ),
  }),

  // 400, missing, which beats invalid.
  ["no body", {}, CONTRACT.MISSING],
  ...posts(CONTRACT.MISSING, {
    "an empty body": "",
    "a byte order mark and nothing else": "\ufeff",
    "an array of the two fields": JSON.stringify([USER, PRODUCT]),
    "null": "null",
    ...having("username", undefined, null, ""),
    ...having("project_id", undefined, null, ""),
    "username in another case": body().replace("username", "Username"),
    "fields of the prototype": `{"__proto__":${body()}}`,
    "one empty, the other invalid": body({ username: "", project_id: 7 }),
    "one invalid, the other missing": JSON.stringify({ username: 7 }),
  }),

  // 400, invalid.
  ...posts(CONTRACT.INVALID, {
    ...having("username", ...WRONG_TYPES),
    ...having("username", "\0", "a\0b", "a\ud83d", "\udee9b", "\udee9\ud83d"),
    "a name too long": body({ username: LONGEST + "a" }),
    "a name too long, beyond the BMP": body({ username: PLANES + "🛩" }),
    ...having("project_id", ...WRONG_TYPES),
    // PostgreSQL takes some of these for a UUID, and careless expressions take others.
    ...having("project_id", ` ${PRODUCT}`, `${PRODUCT}\n`, `eq.${PRODUCT}`),
    ...having("project_id", `{${PRODUCT}}`, `urn:uuid:${PRODUCT}`, " "),
    ...having("project_id", PRODUCT.slice(1), `${PRODUCT}0`),
    ...having("project_id", PRODUCT.replaceAll("-", "")),
    ...having("project_id", ...["g", "１"].map((c) => c + PRODUCT.slice(1))),
  }),

  // 400, invalid UTF-8 or invalid JSON.
  ...posts(CONTRACT.INVALID_JSON, {
    "a form": `username=a&project_id=${PRODUCT}`,
    "only white space": " ",
    "a raw line break in a string": body().replace("ë", "\n"),
    "Latin-1": bytes(body()),
    "a surrogate in UTF-8": bytes(body({ username: "\xed\xa0\xbd" })),
    "two byte order marks": "\ufeff\ufeff" + body(),
  }),

  // 413, whatever is in it.
  ...posts(CONTRACT.TOO_LARGE, {
    "a byte over the limit": bodyOf(LIMITS.bodyBytes + 1),
    "a byte over it, not declared": streamed(bodyOf(LIMITS.bodyBytes + 1)),
    "four times the limit, and not JSON": "x".repeat(4 * LIMITS.bodyBytes),
  }),

  // A method other than POST and OPTIONS. (A hosted project itself responds to rare ones.)
  ["GET", { method: "GET" }, METHOD_NOT_ALLOWED],
  ["PATCH", { method: "PATCH", body: body() }, METHOD_NOT_ALLOWED],
  ["DELETE", { method: "DELETE", body: body() }, METHOD_NOT_ALLOWED],

  // A preflight. With an `Origin`, a gateway may answer it itself.
  ["OPTIONS, a preflight", { method: "OPTIONS" }, CONTRACT.PREFLIGHT],
];

for (const [name, init, expected] of ROWS) {
  Deno.test({
    name: `request: ${name} → ${expected.status}`,
    // Where no key may be issued, there is no 200 to expect.
    ignore: isReadOnly && expected === ACTIVE,
    async fn() {
      await using _keys = isReadOnly ? null : await issueKeys([USER], PRODUCT);
      await assertResponse(send(init), expected);
    },
  });
}
