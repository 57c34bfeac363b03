/** The first use of a key: `record_first_use`, as a back end calls it through the Data API. */
import { assert, assertEquals } from "@std/assert";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const test = service.isReadOnly ? Deno.test.ignore : Deno.test;

/** Calls the function, with the secret key by default. */
const recordFirstUse = (values: unknown, apikey?: string) =>
  service.callDataApi("POST", "rpc/record_first_use", values, apikey);

/** Returns the name that a key has, or null. */
async function readName(key: string): Promise<string | null> {
  const path = `activation_keys?id=eq.${key}&select=curr_user`;
  return JSON.parse((await service.callDataApi("GET", path)).text)[0].curr_user;
}

const PLANE = "\u{1f6e9}"; // A code point of two UTF-16 units.
/** Who has a key, if anybody has; who calls; what is changed in the call; and what comes back. */
const CALLS: { has: string | null; calls: string; sends?: string; returns: boolean }[] = [
  { has: null, calls: "Amelia", returns: true },
  { has: null, calls: PLANE.repeat(256), returns: true },
  { has: "Amelia", calls: "Amelia", returns: true },
  { has: "Bessie", calls: "Amelia", returns: false },
  { has: "amelia", calls: "Amelia", returns: false },
  { has: "Amelia ", calls: "Amelia", returns: false },
  { has: "\u00e9", calls: "e\u0301", returns: false }, // Composed and decomposed.
  { has: null, calls: "Amelia", sends: "UUIDs in upper case", returns: true },
  { has: null, calls: "Amelia", sends: "another product", returns: false },
  { has: "Amelia", calls: "Amelia", sends: "another product", returns: false },
  { has: "Amelia", calls: "Amelia", sends: "another key", returns: false },
];

for (const { has, calls, sends = "", returns } of CALLS) {
  const holder = has === null ? "nobody" : JSON.stringify(has);
  const who = `${holder} has it, and "${[...calls].slice(0, 9).join("")}" calls`;
  test(`first use: ${who}${sends && ` with ${sends}`} → ${returns}`, async () => {
    await using product = await service.issueKeys([has]);
    const { keys: [issued], project_id } = product;
    const call: Record<string, string> = { key: issued!.id, project_id, username: calls };
    if (sends === "another product") call.project_id = crypto.randomUUID();
    if (sends === "another key") call.key = crypto.randomUUID();
    if (sends === "UUIDs in upper case") call.project_id = project_id.toUpperCase();
    if (sends === "UUIDs in upper case") call.key = issued!.id.toUpperCase();
    const { status, text } = await recordFirstUse(call);
    assertEquals([status, text], [200, `${returns}`]);
    assertEquals(await readName(issued!.id), returns ? calls : has);
  });
}

/** Values that are wrong, beside valid ones. What is undefined is not sent. */
const WRONG: Record<string, unknown>[] = [
  { key: null },
  { project_id: null },
  { username: null },
  { key: undefined },
  { project_id: undefined },
  { username: undefined },
  { fourth: "x" },
  { username: "" },
  { username: PLANE.repeat(257) },
  { username: "a\0" },
  { key: "no UUID" },
  { project_id: "no UUID" },
];

for (const values of WRONG) {
  test(`first use: ${Deno.inspect(values, { strAbbreviateSize: 20 })} → neither true nor false, and nothing is written`, async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [unused], project_id } = product;
    const valid = { key: unused!.id, project_id, username: "Amelia" };
    const { text } = await recordFirstUse({ ...valid, ...values });
    assert(text !== "true" && text !== "false", text);
    assertEquals(await readName(unused!.id), null);
  });
}

for (const { who, apikey } of service.OTHER_CALLERS) {
  test(`first use: with ${who}, nobody can record one`, async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [unused], project_id } = product;
    const values = { key: unused!.id, project_id, username: "Eve" };
    service.assertDenied(await recordFirstUse(values, apikey));
    assertEquals(await readName(unused!.id), null);
  });
}

test("first use: of 20 users who send a key at once, one gets true, and the service says 200 for this one alone", async () => {
  await using product = await service.issueKeys([null]);
  const { keys: [unused], project_id } = product;
  const users = Array.from({ length: 20 }, (_, number) => `Pilot ${number}`);
  const answers = await Promise.all(
    users.map((username) => recordFirstUse({ key: unused!.id, project_id, username })),
  );
  const texts = answers.map(({ text }) => text);
  assertEquals(texts.toSorted(), [...Array(19).fill("false"), "true"]);
  for (const [number, user] of users.entries()) {
    const expected = texts[number] === "true" ? ACTIVE : NOT_FOUND;
    await assertResponse(service.ask(project_id, user), expected);
  }
});
