/** Any body at all: the answer is the contract's, and only a well-formed request is looked up. */
import fc from "fast-check";
import { assertEquals } from "@std/assert";
import { LIMITS } from "../support/limits.ts";
import { assertProperty } from "../support/fuzz.ts";
import {
  ACTIVE,
  type Answer,
  INVALID,
  INVALID_JSON,
  MISSING,
  TOO_LARGE,
} from "../support/answers.ts";
import { assertAnswer, send } from "../support/requests.ts";
import {
  keys,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";

/** The contract's table in README.md, written a second time in another way. */
function expected(body: Uint8Array): Answer {
  if (body.length > LIMITS.bodyBytes) return TOO_LARGE;
  if (body.length === 0) return MISSING;
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return INVALID_JSON;
  }
  if (Object.prototype.toString.call(value) !== "[object Object]") {
    return MISSING;
  }
  const absent = (name: string) =>
    !Object.hasOwn(value, name) || value[name] === null || value[name] === "";
  if (absent("username") || absent("project_id")) return MISSING;
  const { username, project_id } = value;
  const valid = typeof username === "string" && username.isWellFormed() &&
    !username.includes("\0") && [...username].length <= LIMITS.name &&
    typeof project_id === "string" &&
    project_id.split("-").map((part) => part.length).join() === "8,4,4,4,12" &&
    /^[0-9a-f-]+$/i.test(project_id) && !project_id.includes("\n");
  return valid ? ACTIVE : INVALID;
}

const field = fc.oneof(
  fc.uuid(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("a", "\0", "\ud800", "\udfff", "🛩") }),
  fc.integer({ min: 254, max: 258 }).map((length) => "é".repeat(length)),
  fc.constantFrom(undefined, null, "", 0, 1, true, false, [], {}),
  fc.jsonValue(),
);
const object = fc.record({
  username: field,
  project_id: fc.oneof(fc.uuid(), field),
});
const text = fc.oneof(
  { weight: 4, arbitrary: object.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
).map((value) => new TextEncoder().encode(value));

/** One byte of a valid text changed. */
const changed = fc.tuple(text, fc.nat(), fc.nat({ max: 255 }))
  .filter(([bytes]) => bytes.length > 0)
  .map(([bytes, at, byte]) => bytes.with(at % bytes.length, byte));

/** A valid text, padded to somewhere around the limit. */
const padded = fc.tuple(text, fc.integer({ min: -4, max: 6 }))
  .map(([bytes, more]) => {
    const length = Math.max(LIMITS.bodyBytes + more, bytes.length);
    const body = new Uint8Array(length).fill(0x20);
    body.set(bytes);
    return body;
  });

const body = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  { weight: 2, arbitrary: changed },
  { weight: 1, arbitrary: padded },
);

Deno.test("bodies: any of them gets its answer, and only a well-formed one a lookup", async () => {
  await using dataApi = startDataApiStub(keys());
  await using edgeFunction = await startFunctionOn(dataApi);
  await assertProperty(body, async (bytes) => {
    const before = dataApi.requests.length;
    const answer = expected(bytes);
    const sent = new Uint8Array(bytes);
    await assertAnswer(send({ body: sent }, edgeFunction.url), answer);
    // The same, without a declared length.
    const stream = new Blob([sent]).stream();
    await assertAnswer(send({ body: stream }, edgeFunction.url), answer);
    assertEquals(dataApi.requests.length - before, answer === ACTIVE ? 2 : 0);
  }, []);
});
