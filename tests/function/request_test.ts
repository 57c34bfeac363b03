/** Any body at all is a well-formed check, or has what the contract says is wrong with it. */
import fc from "fast-check";
import { assertEquals } from "@std/assert";
import { readActivationCheck } from "../../supabase/functions/check-username-active/request.ts";
import { LIMITS } from "../support/contract.ts";

/** The contract's table in README.md, written a second time in another way. */
function expected(body: Uint8Array) {
  let value;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    value = text && JSON.parse(text);
  } catch {
    return "invalid_json";
  }
  const isThere = (name: string) =>
    Object.prototype.toString.call(value) === "[object Object]" &&
    Object.hasOwn(value, name) && value[name] !== null && value[name] !== "";
  if (!isThere("username") || !isThere("project_id")) return "missing_field";
  const { username: name, project_id: id } = value;
  const isValid = typeof name === "string" && name.isWellFormed() &&
    !name.includes("\0") && [...name].length <= LIMITS.name &&
    typeof id === "string" && !id.includes("\n") &&
    id.split("-").map((part) => part.length).join() === "8,4,4,4,12" &&
    /^[0-9a-f-]+$/i.test(id);
  if (!isValid) return "invalid_field";
  return { username: name, project_id: id.toLowerCase() };
}

const field = fc.oneof(
  fc.uuid(),
  fc.string({ unit: fc.constantFrom("a", "\0", "\ud800", "\udfff", "🛩") }),
  fc.integer({ min: 254, max: 258 }).map((length) => "é".repeat(length)),
  fc.jsonValue(),
);
const object = fc.record(
  { username: field, project_id: fc.oneof(fc.uuid(), field) },
  { requiredKeys: [] },
);
const text = fc.oneof(
  object.map((value) => JSON.stringify(value)),
  fc.constantFrom("", "\ufeff", "\ufeff\ufeff", "\ufeff{}", " "),
).map((value) => new TextEncoder().encode(value));

/** One byte of a text changed. */
const changed = fc.tuple(text, fc.nat(), fc.nat({ max: 255 }))
  .map(([bytes, at, byte]) => bytes.map((own, nth) => nth === at ? byte : own));

Deno.test("request: any body is read as the contract says, with a declared length or without", async () => {
  const property = fc.asyncProperty(fc.oneof(text, changed), async (body) => {
    const length = { "Content-Length": `${body.length}` };
    for (const headers of [{}, length]) {
      const init = { method: "POST", headers, body };
      const request = new Request("http://localhost", init);
      assertEquals(await readActivationCheck(request), expected(body));
    }
  });
  const numRuns = Number(Deno.env.get("FUZZ_RUNS") ?? 1_000);
  await fc.assert(property, { numRuns });
});
