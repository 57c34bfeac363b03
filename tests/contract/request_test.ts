/** What is sent, and what comes back: the contract's table in README.md, row by row. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { isAnsweredByPlatform } from "../support/platform.ts";
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
import { assertAnswer } from "../support/assert_answer.ts";
import { issueKeys, testWithKeys } from "../support/issue_keys.ts";
import { check, PANEL_PREFLIGHT, send } from "../support/send.ts";
import { isReadOnly } from "../support/service_under_test.ts";

const PROJECT = crypto.randomUUID();
const USER = "Zoë Brückner#4821";

/** JSON text of a well-formed body, with some fields changed. `undefined` leaves one out. */
function body(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ username: USER, project_id: PROJECT, ...changes });
}

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

const around = (...middle: number[]) =>
  bytes(`{"username":"`, ...middle, `","project_id":"${PROJECT}"}`);

type Row = [name: string, init: RequestInit, answer: Answer];

const ROWS: Row[] = [
  // A record has this project_id and exactly this curr_user.
  ["a well-formed body", { body: body() }, ACTIVE],
  [
    "a JSON Content-Type",
    { body: body(), headers: { "Content-Type": "application/json" } },
    ACTIVE,
  ],
  [
    "any other Content-Type",
    { body: body(), headers: { "Content-Type": "image/png" } },
    ACTIVE,
  ],
  ["no Content-Type", { body: bytes(body()) }, ACTIVE],
  [
    "credentials, which are ignored",
    { body: body(), headers: { Authorization: "Bearer x", apikey: "x" } },
    ACTIVE,
  ],
  [
    "unknown fields, which are ignored",
    { body: body({ version: 3, user: null, __proto: [] }) },
    ACTIVE,
  ],
  ["white space around the JSON", { body: ` \r\n\t${body()}\n` }, ACTIVE],
  ["a byte order mark before the JSON, which C# writers send", {
    body: bytes(0xef, 0xbb, 0xbf, body()),
  }, ACTIVE],
  ["an escaped user name", {
    body: body().replace("Zoë", "\\u005ao\\u00eb"),
  }, ACTIVE],
  ["one field twice, of which the last counts", {
    body: body().replace("{", `{"username":"somebody else",`),
  }, ACTIVE],
  ["an upper-case UUID", {
    body: body({ project_id: PROJECT.toUpperCase() }),
  }, ACTIVE],
  ["exactly 16 KiB", { body: bodyOf(16_384) }, ACTIVE],
  ["exactly 16 KiB, length not declared", {
    body: streamed(bodyOf(16_384), 9),
  }, ACTIVE],

  // No record has.
  ["another user", { body: body({ username: "somebody else" }) }, NOT_FOUND],
  ["another project", {
    body: body({ project_id: crypto.randomUUID() }),
  }, NOT_FOUND],
  ["256 code points", { body: body({ username: "a".repeat(256) }) }, NOT_FOUND],
  ["256 code points beyond the BMP", {
    body: body({ username: "🛩".repeat(256) }),
  }, NOT_FOUND],
  ["a line break in the user name", {
    body: body({ username: "a\nb" }),
  }, NOT_FOUND],

  // Missing, which beats invalid.
  ["no body", {}, MISSING],
  ["an empty body", { body: "" }, MISSING],
  ["an array", { body: "[]" }, MISSING],
  ["an array of the two fields", {
    body: JSON.stringify([USER, PROJECT]),
  }, MISSING],
  ["a string", { body: `"${USER}"` }, MISSING],
  ["a number", { body: "1" }, MISSING],
  ["true", { body: "true" }, MISSING],
  ["null", { body: "null" }, MISSING],
  ["an empty object", { body: "{}" }, MISSING],
  ["no username", { body: body({ username: undefined }) }, MISSING],
  ["no project_id", { body: body({ project_id: undefined }) }, MISSING],
  ["username null", { body: body({ username: null }) }, MISSING],
  ["project_id null", { body: body({ project_id: null }) }, MISSING],
  ["username empty", { body: body({ username: "" }) }, MISSING],
  ["project_id empty", { body: body({ project_id: "" }) }, MISSING],
  ["username in another case", {
    body: `{"Username":"${USER}","project_id":"${PROJECT}"}`,
  }, MISSING],
  ["fields of the prototype", {
    body: `{"__proto__":${body()}}`,
  }, MISSING],
  ["username empty and project_id invalid", {
    body: body({ username: "", project_id: 7 }),
  }, MISSING],
  ["username invalid and project_id missing", {
    body: body({ username: 7, project_id: undefined }),
  }, MISSING],
  ["5,000 nested arrays", {
    body: "[".repeat(5_000) + "]".repeat(5_000),
  }, MISSING],

  // Invalid.
  ...[7, 0, true, false, [], [USER], {}, { eq: USER }].flatMap((
    value,
  ): Row[] => [
    [`username ${JSON.stringify(value)}`, {
      body: body({ username: value }),
    }, INVALID],
    [`project_id ${JSON.stringify(value)}`, {
      body: body({ project_id: value }),
    }, INVALID],
  ]),
  ...Object.entries({
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
  }).map(([what, project_id]): Row => [
    `project_id ${what}`,
    { body: body({ project_id }) },
    INVALID,
  ]),
  ["257 code points", { body: body({ username: "a".repeat(257) }) }, INVALID],
  ["257 code points beyond the BMP", {
    body: body({ username: "🛩".repeat(257) }),
  }, INVALID],
  ["U+0000 in the user name", { body: body({ username: "a\0b" }) }, INVALID],
  ["only U+0000", { body: body({ username: "\0" }) }, INVALID],
  ["a lone high surrogate", { body: body({ username: "a\ud83d" }) }, INVALID],
  ["a lone low surrogate", { body: body({ username: "\udee9b" }) }, INVALID],
  ["surrogates in the wrong order", {
    body: body({ username: "\udee9\ud83d" }),
  }, INVALID],

  // Invalid UTF-8 or invalid JSON.
  ["text that is not JSON", { body: "username=Zoë" }, INVALID_JSON],
  ["only white space", { body: " " }, INVALID_JSON],
  ["cut JSON", { body: body().slice(0, -1) }, INVALID_JSON],
  ["JSON with something after it", { body: body() + "x" }, INVALID_JSON],
  ["single quotes", { body: body().replaceAll('"', "'") }, INVALID_JSON],
  ["a trailing comma", { body: body().replace("}", ",}") }, INVALID_JSON],
  ["a comment", { body: "//\n" + body() }, INVALID_JSON],
  ["NaN", { body: `{"username":NaN}` }, INVALID_JSON],
  ["a raw line break in a string", {
    body: body({ username: "a" })
      .replace("a", "\n"),
  }, INVALID_JSON],
  ["a byte that UTF-8 never has", { body: around(0xff) }, INVALID_JSON],
  ["Latin-1", { body: around(0x5a, 0x6f, 0xeb) }, INVALID_JSON],
  ["a cut sequence", { body: around(0xf0, 0x9f, 0x9b) }, INVALID_JSON],
  ["an overlong sequence", { body: around(0xc1, 0x81) }, INVALID_JSON],
  ["a surrogate in UTF-8", { body: around(0xed, 0xa0, 0xbd) }, INVALID_JSON],
  ["a code point over U+10FFFF", {
    body: around(0xf4, 0x90, 0x80, 0x80),
  }, INVALID_JSON],
  ["two byte order marks", {
    body: bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, body()),
  }, INVALID_JSON],
  ["a byte order mark and nothing else", {
    body: bytes(0xef, 0xbb, 0xbf),
  }, INVALID_JSON],
  ["UTF-16", {
    body: bytes(
      0xff,
      0xfe,
      ...[...body()].flatMap((c) => [c.charCodeAt(0), 0]),
    ),
  }, INVALID_JSON],
  ["a gzip header", { body: bytes(0x1f, 0x8b, 8, 0) }, INVALID_JSON],

  // Too large, whatever is in it.
  ["16 KiB and a byte", { body: bodyOf(16_385) }, TOO_LARGE],
  ["16 KiB and a byte, length not declared", {
    body: streamed(bodyOf(16_385), 9),
  }, TOO_LARGE],
  ["64 KiB that is not JSON", { body: "x".repeat(65_536) }, TOO_LARGE],
  ["1 MiB, length not declared", {
    body: streamed(bodyOf(1_048_576), 64),
  }, TOO_LARGE],

  // A method other than POST and OPTIONS.
  ...["GET", "HEAD", "PUT", "PATCH", "DELETE", "PROPFIND"].map((
    method,
  ): Row => [
    method,
    method === "GET" || method === "HEAD"
      ? { method }
      : { method, body: body() },
    method === "HEAD"
      ? { ...METHOD_NOT_ALLOWED, body: null }
      : METHOD_NOT_ALLOWED,
  ]),

  // CORS preflight.
  ["OPTIONS", { method: "OPTIONS" }, PREFLIGHT],
];

const LEFT_OUT = ROWS.filter(([, { method }]) => isAnsweredByPlatform(method));
if (LEFT_OUT.length > 0) {
  const names = LEFT_OUT.map(([name]) => name).join(", ");
  console.log(
    `${LEFT_OUT.length} tests are left out (${names}): the hosted platform answers these methods itself.`,
  );
}

for (const [name, init, answer] of ROWS) {
  if (isAnsweredByPlatform(init.method)) continue;
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

testWithKeys(
  "request: UUIDs of any version and variant, in either case",
  async () => {
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
  },
);

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
