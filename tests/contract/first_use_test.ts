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

const LONGEST = "\u{1f6e9}".repeat(256); // 256 code points: aeroplanes.

/** A key that somebody has used, or nobody (null), and the call of another name or of the same. */
const CALLS = [
  { keyOf: null, username: "Amelia", returns: true },
  { keyOf: null, username: LONGEST, returns: true },
  { keyOf: "Amelia", username: "Amelia", returns: true },
  { keyOf: "Bessie", username: "Amelia", returns: false },
  { keyOf: "amelia", username: "Amelia", returns: false },
  { keyOf: "Amelia ", username: "Amelia", returns: false },
  { keyOf: "\u00e9", username: "e\u0301", returns: false }, // Composed and decomposed.
  { keyOf: null, username: "Amelia", sent: "UUIDs in upper case", returns: true },
  { keyOf: null, username: "Amelia", sent: "another product", returns: false },
  { keyOf: "Amelia", username: "Amelia", sent: "another product", returns: false },
  { keyOf: "Amelia", username: "Amelia", sent: "no such key", returns: false },
];

for (const { keyOf, username, sent, returns } of CALLS) {
  const name = username === LONGEST ? "256 code points" : JSON.stringify(username);
  const when = `a key of ${JSON.stringify(keyOf)}, used by ${name}${sent ? `, with ${sent}` : ""}`;
  test(`first use: ${when} → ${returns}`, async () => {
    await using product = await service.issueKeys([keyOf]);
    const { keys: [issued], project_id } = product;
    const values = { key: issued!.id, project_id, username };
    if (sent === "another product") values.project_id = crypto.randomUUID();
    if (sent === "no such key") values.key = crypto.randomUUID();
    if (sent === "UUIDs in upper case") {
      Object.assign(values, {
        key: values.key.toUpperCase(),
        project_id: project_id.toUpperCase(),
      });
    }
    const { status, text } = await recordFirstUse(values);
    assertEquals({ status, text }, { status: 200, text: `${returns}` });
    assertEquals(await readName(issued!.id), returns ? username : keyOf);
  });
}

/** Values that are wrong, beside sound ones. `undefined` is a value that is not sent. */
const WRONG: { when: string; values: Record<string, unknown> }[] = [
  { when: "key: null", values: { key: null } },
  { when: "project_id: null", values: { project_id: null } },
  { when: "username: null", values: { username: null } },
  { when: "no key", values: { key: undefined } },
  { when: "no project_id", values: { project_id: undefined } },
  { when: "no username", values: { username: undefined } },
  { when: "a fourth value", values: { product: "x" } },
  { when: "an empty name", values: { username: "" } },
  { when: "257 code points", values: { username: "a".repeat(257) } },
  { when: "U+0000 in the name", values: { username: "a\0" } },
  { when: "a key that is no UUID", values: { key: "x" } },
  { when: "a product that is no UUID", values: { project_id: "x" } },
];

for (const { when, values } of WRONG) {
  test(`first use: ${when} → neither true nor false, and nothing is written`, async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [unused], project_id } = product;
    const { text } = await recordFirstUse({
      ...{ key: unused!.id, project_id, username: "Amelia" },
      ...values,
    });
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
  await Promise.all(users.map((user) => assertResponse(service.ask(project_id, user), NOT_FOUND)));
  const answers = await Promise.all(
    users.map((username) => recordFirstUse({ key: unused!.id, project_id, username })),
  );
  const winners = users.filter((_, number) => answers[number]!.text === "true");
  assertEquals(winners.length, 1);
  assertEquals(answers.filter(({ text }) => text === "false").length, 19);
  for (const user of users) {
    await assertResponse(
      service.ask(project_id, user),
      winners.includes(user) ? ACTIVE : NOT_FOUND,
    );
  }
});
