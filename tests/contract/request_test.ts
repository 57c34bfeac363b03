/**
 * What is sent, and the response: the contract's tables in README.md. Tested elsewhere are the 408
 * (`body_test.ts`) and the 500 (`real_connections_test.ts`).
 */
import { assertEquals } from "@std/assert";
import * as CONTRACT from "../support/contract.ts";
import { getSchema } from "../support/openapi.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const USER = "Zoë Brückner#4821";

/** Returns a well-formed body as JSON, with these changes. `undefined` leaves a field out. */
const body = (changes: Record<string, unknown> = {}): string =>
  JSON.stringify({ username: USER, project_id: PRODUCT, ...changes });

/** Returns a byte for each character: "\xeb" becomes EB. */
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** Returns a well-formed body of this many bytes. The ë and the ü of the name take two each. */
const bodyOf = (length: number) => new TextEncoder().encode(body().padEnd(length - 2));

/** Sends bytes without declaring how many they are. */
const streamed = (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream();

/** Returns a body for each value of a field, named after the value. */
const bodiesWith = (field: string, values: unknown[]) =>
  Object.fromEntries(
    values.map((value) => [`${field} ${JSON.stringify(value)}`, body({ [field]: value })]),
  );

const PLANE = "🛩"; // A code point of two UTF-16 units.
// 0 and false are not missing. A list of one text would become that text.
const WRONG_TYPES = [7, 0, true, false, [], [USER], [PRODUCT], {}];

type Posts = { response: CONTRACT.Expected; because: string; bodies: Record<string, BodyInit> };
/** Bodies of a POST, each under what it is, and the response to each of them. */
const POSTS: Posts[] = [
  {
    response: CONTRACT.ACTIVE,
    because: "a record has both values",
    bodies: {
      "Content-Type text/plain": body(), // What fetch sends with a string.
      "Content-Type application/json": new Blob([body()], { type: "application/json" }),
      "Content-Type image/png": new Blob([body()], { type: "image/png" }),
      "no Content-Type": new Blob([body()]),
      "unknown fields beside the two": body({ user: null, extra: [] }),
      "white space around the JSON": ` \r\n\t${body()}\n`,
      "a byte order mark, which C# writers send": "\ufeff" + body(),
      "an escaped user name": body().replace("Zoë", "\\u005ao\\u00eb"),
      "an upper-case project_id": body({ project_id: PRODUCT.toUpperCase() }),
      "a field twice, of which the second one counts": `{"username":7,${body().slice(1)}`,
      "exactly 16 KiB": bodyOf(16_384),
      "exactly 16 KiB, not declared": streamed(bodyOf(16_384)),
    },
  },
  {
    response: CONTRACT.NOT_FOUND,
    because: "no record has both values",
    bodies: {
      "another user": body({ username: "somebody else" }),
      "another product": body({ project_id: crypto.randomUUID() }),
      "a name of one code point": body({ username: PLANE }),
      "a name of 256 code points": body({ username: "a".repeat(256) }),
      "256 code points beyond the BMP": body({ username: PLANE.repeat(256) }),
      "a line break in the name": body({ username: "a\nb" }),
      // The smallest UUID, the largest one, and one that RFC 9562 does not know: its variant, the
      // first digit of the fourth part, is none of 8, 9, a and b.
      ...bodiesWith("project_id", [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "11111111-1111-1111-1111-111111111111",
      ]),
    },
  },
  {
    response: CONTRACT.MISSING,
    because: "a field is missing",
    bodies: {
      // No bytes at all are no JSON, but the contract calls the fields missing.
      "an empty body": "",
      "a byte order mark and nothing else": "\ufeff",
      "an array of the two values": JSON.stringify([USER, PRODUCT]),
      "null": "null",
      ...bodiesWith("username", [undefined, null, ""]),
      ...bodiesWith("project_id", [undefined, null, ""]),
      "Username in place of username": body().replace("username", "Username"),
      "the two fields only inside a __proto__ member": `{"__proto__":${body()}}`,
      // If one field is missing and the other is invalid, the response is about the missing one.
      "an empty username, and an invalid project_id": body({ username: "", project_id: 7 }),
      "an invalid username, and no project_id": `{"username":7}`,
    },
  },
  {
    response: CONTRACT.INVALID,
    because: "a field is invalid",
    bodies: {
      ...bodiesWith("username", WRONG_TYPES),
      // U+0000, and lone surrogates, which JSON.stringify writes as escapes.
      ...bodiesWith("username", ["\0", "a\0b"]),
      ...bodiesWith("username", ["a\ud83d", "\udee9b", "\udee9\ud83d"]),
      "a name of 257 code points": body({ username: "a".repeat(257) }),
      "257 code points beyond the BMP": body({ username: PLANE.repeat(257) }),
      ...bodiesWith("project_id", WRONG_TYPES),
      // PostgreSQL takes some of these for a UUID, and careless regular expressions take others.
      ...bodiesWith("project_id", [
        ` ${PRODUCT}`,
        `${PRODUCT}\n`,
        `eq.${PRODUCT}`,
        `{${PRODUCT}}`,
        `urn:uuid:${PRODUCT}`,
        " ",
        PRODUCT.slice(1),
        `${PRODUCT}0`,
        PRODUCT.replaceAll("-", ""),
        `g${PRODUCT.slice(1)}`,
        `\uff11${PRODUCT.slice(1)}`, // A full-width digit.
      ]),
    },
  },
  {
    response: CONTRACT.INVALID_JSON,
    because: "the body is not valid UTF-8, or not valid JSON",
    bodies: {
      "a form": `username=a&project_id=${PRODUCT}`,
      "only white space": " ",
      "a raw line break in a string": body().replace("ë", "\n"),
      "Latin-1": bytes(body()),
      "a lone surrogate as raw bytes": bytes(body({ username: "\xed\xa0\xbd" })),
      // A byte order mark may stand at the start. A second one is a character, and no JSON.
      "two byte order marks": "\ufeff\ufeff" + body(),
    },
  },
  {
    response: CONTRACT.TOO_LARGE,
    because: "the body is over 16 KiB, whatever is in it",
    bodies: {
      "16 KiB and a byte": bodyOf(16_385),
      "16 KiB and a byte, not declared": streamed(bodyOf(16_385)),
      "64 KiB that are not JSON": "x".repeat(65_536),
    },
  },
];

for (const { response, because, bodies } of POSTS) {
  for (const [when, content] of Object.entries(bodies)) {
    addTest(`${when} → ${response.status}: ${because}`, { body: content }, response);
  }
}

// No schema says what is JSON, or forbids U+0000 and lone surrogates.
Deno.test("openapi.yaml: its schema takes the bodies that get 200 or 499, and refuses those that get 400", () => {
  const takes = getSchema("ActivationCheck");
  for (const { response, bodies } of POSTS) {
    if (response === CONTRACT.INVALID_JSON || response === CONTRACT.TOO_LARGE) continue;
    for (const [when, content] of Object.entries(bodies)) {
      if (typeof content !== "string" || /^\ufeff?$|\\u0000|\\ud\w{3}/.test(content)) continue;
      assertEquals(takes(JSON.parse(content.replace("\ufeff", ""))), response.status !== 400, when);
    }
  }
});

const headers = { Authorization: "Bearer x", apikey: "x" };
addTest("credentials, which are ignored → 200", { body: body(), headers }, CONTRACT.ACTIVE);
// Rarer methods are not sent, because a hosted project itself responds to some of them.
for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
  const init = { method, body: method === "GET" ? null : body() };
  addTest(`${method} → 405`, init, CONTRACT.METHOD_NOT_ALLOWED);
}
// It has no `Origin` header, because a gateway may answer a request with that header itself.
addTest("OPTIONS, as in a preflight → 204", { method: "OPTIONS" }, CONTRACT.PREFLIGHT);

function addTest(name: string, init: RequestInit, response: CONTRACT.Expected) {
  Deno.test({
    name: `request: ${name}`,
    // Where no key may be issued, there is no 200 to expect.
    ignore: service.isReadOnly && response === CONTRACT.ACTIVE,
    async fn() {
      await using _keys = service.isReadOnly ? null : await service.issueKeys([USER], PRODUCT);
      await assertResponse(service.send(init), response);
    },
  });
}
