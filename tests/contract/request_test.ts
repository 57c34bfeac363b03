/** What is sent, and what comes back: the contract's table in README.md, row by row. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  ACTIVE,
  type Answer,
  INVALID,
  INVALID_JSON,
  METHOD_NOT_ALLOWED,
  MISSING,
  NOT_FOUND,
  PREFLIGHT,
  TOO_LARGE,
} from "../support/answers.ts";
import { LIMITS } from "../support/limits.ts";
import {
  assertAnswer,
  check,
  PANEL_PREFLIGHT,
  send,
} from "../support/requests.ts";
import { issueKeys, testWithKeys as test } from "../support/issue_keys.ts";
import { isReadOnly } from "../support/service_under_test.ts";

const PROJECT = crypto.randomUUID();
const USER = "Zoë Brückner#4821";

/** JSON text of a well-formed body, with some fields changed. `undefined` leaves one out. */
function body(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ username: USER, project_id: PROJECT, ...changes });
}

/** JSON text of a body with a name of so many times a character. */
const bodyOfName = (character: string, times: number) =>
  body({ username: character.repeat(times) });

/** A well-formed body of exactly so many bytes. */
function bodyOf(bytes: number): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(body());
  const padded = new Uint8Array(bytes).fill(0x20);
  padded.set(text);
  return padded;
}

/** The same bytes, in pieces, without a declared length. */
function streamed(bytes: Uint8Array, pieces: number): ReadableStream {
  const size = Math.ceil(bytes.length / pieces);
  return ReadableStream.from((async function* () {
    for (let at = 0; at < bytes.length; at += size) {
      yield bytes.slice(at, at + size);
      await sleep(1);
    }
  })());
}

function bytes(...values: (number | string)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    values.flatMap((value) =>
      typeof value === "number" ? [value] : [...new TextEncoder().encode(value)]
    ),
  );
}

const BOM = [0xef, 0xbb, 0xbf];
const around = (...middle: number[]) =>
  bytes(`{"username":"`, ...middle, `","project_id":"${PROJECT}"}`);

type Row = [name: string, init: RequestInit, answer: Answer];
type Body = string | Uint8Array<ArrayBuffer> | ReadableStream;

/** Rows of POSTs with these bodies, each of which gets this answer. */
function posts(answer: Answer, bodies: Record<string, Body>): Row[] {
  return Object.entries(bodies).map(([name, body]) => [name, { body }, answer]);
}

/** What is no value for a field. */
const WRONG_TYPES = [7, 0, true, false, [], [USER], {}, { eq: USER }];

const ROWS: Row[] = [
  // A record has this project_id and exactly this curr_user.
  ...posts(ACTIVE, {
    "a well-formed body": body(),
    "no Content-Type": bytes(body()),
    "unknown fields, which are ignored": body({ user: null, __proto: [] }),
    "white space around the JSON": ` \r\n\t${body()}\n`,
    "a byte order mark, which C# writers send": bytes(...BOM, body()),
    "an escaped user name": body().replace("Zoë", "\\u005ao\\u00eb"),
    "a field twice, of which the last counts": `{"username":7,${
      body().slice(1)
    }`,
    "an upper-case UUID": body({ project_id: PROJECT.toUpperCase() }),
    "exactly the limit": bodyOf(LIMITS.bodyBytes),
    "exactly the limit, not declared": streamed(bodyOf(LIMITS.bodyBytes), 9),
  }),
  ...Object.entries<Record<string, string>>({
    "a JSON Content-Type": { "Content-Type": "application/json" },
    "any other Content-Type": { "Content-Type": "image/png" },
    "credentials, which are ignored": {
      Authorization: "Bearer x",
      apikey: "x",
    },
  }).map(([name, headers]): Row => [name, { body: body(), headers }, ACTIVE]),

  // No record has.
  ...posts(NOT_FOUND, {
    "another user": body({ username: "somebody else" }),
    "another project": body({ project_id: crypto.randomUUID() }),
    "the longest name": bodyOfName("a", LIMITS.name),
    "the longest name beyond the BMP": bodyOfName("🛩", LIMITS.name),
    "a line break in the user name": body({ username: "a\nb" }),
  }),

  // Missing, which beats invalid.
  ["no body", {}, MISSING],
  ...posts(MISSING, {
    "an empty body": "",
    "an array": "[]",
    "an array of the two fields": JSON.stringify([USER, PROJECT]),
    "a string": `"${USER}"`,
    "a number": "1",
    "true": "true",
    "null": "null",
    "an empty object": "{}",
    "no username": body({ username: undefined }),
    "no project_id": body({ project_id: undefined }),
    "username null": body({ username: null }),
    "project_id null": body({ project_id: null }),
    "username empty": body({ username: "" }),
    "project_id empty": body({ project_id: "" }),
    "username in another case": body().replace("username", "Username"),
    "fields of the prototype": `{"__proto__":${body()}}`,
    "one empty, the other invalid": body({ username: "", project_id: 7 }),
    "one invalid, the other missing": JSON.stringify({ username: 7 }),
    "5,000 nested arrays": "[".repeat(5_000) + "]".repeat(5_000),
  }),

  // Invalid.
  ...posts(INVALID, {
    ...Object.fromEntries(
      WRONG_TYPES.flatMap((value) =>
        ["username", "project_id"].map((field) => [
          `${field} ${JSON.stringify(value)}`,
          body({ [field]: value }),
        ])
      ),
    ),
    ...Object.fromEntries(
      Object.entries({
        "text": "not a UUID",
        "a space": " ",
        "a UUID that lacks a digit": PROJECT.slice(1),
        "a UUID with a digit too many": `${PROJECT}0`,
        "a UUID and a line break": `${PROJECT}\n`,
        "a space and a UUID": ` ${PROJECT}`,
        "a UUID in braces": `{${PROJECT}}`,
        "a UUID as a URN": `urn:uuid:${PROJECT}`,
        "a UUID without hyphens": PROJECT.replaceAll("-", ""),
        "a UUID with a dash": PROJECT.replace("-", "–"),
        "a UUID with a g": PROJECT.replace(/./, "g"),
        "a UUID with a full-width digit": PROJECT.replace(/./, "１"),
        "two UUIDs": `${PROJECT},${PROJECT}`,
        "a UUID with an operator": `eq.${PROJECT}`,
        "the word null": "null",
      }).map(([what, id]) => [`project_id ${what}`, body({ project_id: id })]),
    ),
    "a name too long": bodyOfName("a", LIMITS.name + 1),
    "a name too long beyond the BMP": bodyOfName("🛩", LIMITS.name + 1),
    "U+0000 in the user name": body({ username: "a\0b" }),
    "only U+0000": body({ username: "\0" }),
    "a lone high surrogate": body({ username: "a\ud83d" }),
    "a lone low surrogate": body({ username: "\udee9b" }),
    "surrogates in the wrong order": body({ username: "\udee9\ud83d" }),
  }),

  // Invalid UTF-8 or invalid JSON.
  ...posts(INVALID_JSON, {
    "text that is not JSON": "username=Zoë",
    "only white space": " ",
    "cut JSON": body().slice(0, -1),
    "JSON with something after it": body() + "x",
    "single quotes": body().replaceAll('"', "'"),
    "a trailing comma": body().replace("}", ",}"),
    "a comment": "//\n" + body(),
    "NaN": `{"username":NaN}`,
    "a raw line break in a string": body({ username: "a" }).replace("a", "\n"),
    "a byte that UTF-8 never has": around(0xff),
    "Latin-1": around(0x5a, 0x6f, 0xeb),
    "a cut sequence": around(0xf0, 0x9f, 0x9b),
    "an overlong sequence": around(0xc1, 0x81),
    "a surrogate in UTF-8": around(0xed, 0xa0, 0xbd),
    "a code point over U+10FFFF": around(0xf4, 0x90, 0x80, 0x80),
    "two byte order marks": bytes(...BOM, ...BOM, body()),
    "a byte order mark and nothing else": bytes(...BOM),
    "UTF-16": bytes(
      ...[0xff, 0xfe],
      ...[...body()].flatMap((c) => [c.charCodeAt(0), 0]),
    ),
    "a gzip header": bytes(0x1f, 0x8b, 8, 0),
  }),

  // Too large, whatever is in it.
  ...posts(TOO_LARGE, {
    "a byte over the limit": bodyOf(LIMITS.bodyBytes + 1),
    "a byte over it, not declared": streamed(bodyOf(LIMITS.bodyBytes + 1), 9),
    "four times the limit, and not JSON": "x".repeat(4 * LIMITS.bodyBytes),
    "1 MiB, not declared": streamed(bodyOf(1_048_576), 64),
  }),

  // A method other than POST and OPTIONS.
  ["GET", { method: "GET" }, METHOD_NOT_ALLOWED],
  ["HEAD", { method: "HEAD" }, { ...METHOD_NOT_ALLOWED, body: null }],
  ...["PUT", "PATCH", "DELETE", "PROPFIND"].map((method): Row => [
    method,
    { method, body: body() },
    METHOD_NOT_ALLOWED,
  ]),

  // CORS preflight.
  ["OPTIONS", { method: "OPTIONS" }, PREFLIGHT],
];

/** A hosted project passes these on to a function. It answers any other with a 405 of its own. */
const PASSED_ON = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];
const isHosted = Deno.env.get("TEST_TARGET") === "remote";
const isPassedOn = ([, { method = "POST" }]: Row) =>
  !isHosted || PASSED_ON.includes(method);

const leftOut = ROWS.filter((row) => !isPassedOn(row)).map(([name]) => name);
if (leftOut.length > 0) {
  console.log(`${leftOut.length} tests are left out (${leftOut.join(", ")}):`);
  console.log("The hosted platform answers these methods itself.");
}

for (const [name, init, answer] of ROWS.filter(isPassedOn)) {
  Deno.test({
    name: `request: ${name} → ${answer.status}`,
    // The others hold without a key, too.
    ignore: isReadOnly && answer === ACTIVE,
    async fn() {
      await using _keys = isReadOnly
        ? undefined
        : await issueKeys([USER], PROJECT);
      await assertAnswer(send(init), answer);
    },
  });
}

const ACTIVE_USERNAME = Deno.env.get("ACTIVE_USERNAME");
const ACTIVE_PROJECT_ID = Deno.env.get("ACTIVE_PROJECT_ID");
if (ACTIVE_USERNAME && ACTIVE_PROJECT_ID) {
  Deno.test("request: the user that ACTIVE_USERNAME names → 200", async () => {
    await assertAnswer(check(ACTIVE_PROJECT_ID, ACTIVE_USERNAME), ACTIVE);
  });
}

test("request: UUIDs of any version and variant, in either case", async () => {
  for (
    const id of [
      "11111111-1111-1111-1111-111111111111",
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "ABCDEFab-cdef-0123-4567-89abcdefABCD",
      "6f3b1d52-8c4e-9f0a-cb7d-2e5a1c90d3f5",
    ]
  ) {
    const user = crypto.randomUUID();
    await using _project = await issueKeys([user], id);
    await assertAnswer(check(id, user), ACTIVE, id);
    await assertAnswer(check(id.toLowerCase(), user), ACTIVE, id);
    await assertAnswer(check(id.toUpperCase(), user), ACTIVE, id);
  }
});

Deno.test("request: a preflight lets in-game panels POST", async () => {
  // The gateway of `supabase start` answers preflights itself, with 200 and headers of its own.
  const response = await send(PANEL_PREFLIGHT);
  await response.body?.cancel();
  const header = (name: string) => response.headers.get(name) ?? "";
  assert(response.ok, `${response.status}`);
  assertEquals(header("access-control-allow-origin"), "*");
  assertMatch(header("access-control-allow-methods"), /\bPOST\b/);
  assertMatch(header("access-control-allow-headers"), /\bcontent-type\b/i);
});
