/** `examples/back-end/first_use.ts`, which an operator's back end copies: it records the first use of a key. */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { LOCAL_SERVICE } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

/**
 * Loads the file for a Data API, whose address it reads when it is loaded. Returns a function that
 * calls it, and tells what it returns or throws.
 */
async function load(apiUrl: string) {
  process.env.SUPABASE_URL = apiUrl;
  process.env.BACK_END_SECRET_KEY = LOCAL_SERVICE.SECRET_KEY;
  const { recordFirstUse }: typeof import("../../examples/back-end/first_use.ts") = await import(
    `../../examples/back-end/first_use.ts?${apiUrl}`
  );
  return (values: unknown) =>
    recordFirstUse(values).catch((error) =>
      error instanceof z.ZodError ? "throws a ZodError" : "throws"
    );
}

/** If such a name were a part of an address or a filter, it would find used keys, too. */
const HARMFUL = "x,curr_user.not.is.null";
const ODD = [" a", "null", "true", "{a}", `a,b.c:d(e)"f"\\g`, "100%_*", "is.null", "O'Dea", "小雪"];

Deno.test("first use: on the local stack", async (test) => {
  const recordFirstUse = await load(service.settings.API_URL);
  for (const username of [HARMFUL, ...ODD]) {
    await test.step(`${username} gets an unused key, gets it again, and gets no other key`, async () => {
      await using product = await service.issueKeys([null, "Bessie"]);
      const { keys: [unused, bessies], project_id } = product;
      const calls = [
        { when: "no such key", key: KEY, returns: false },
        { when: "other product", key: unused!.id, project_id: PROJECT_ID, returns: false },
        { when: "at first", key: unused!.id, returns: true },
        { when: "again", key: unused!.id, returns: true },
        { when: "another user", key: unused!.id, username: "Bessie", returns: false },
        { when: "Bessie's key", key: bessies!.id, returns: false },
      ];
      for (const { when, returns, ...values } of calls) {
        assertEquals(await recordFirstUse({ project_id, username, ...values }), returns, when);
      }
      // The service finds both users afterwards, so Bessie's key is still hers.
      await assertResponse(service.ask(project_id, username), ACTIVE);
      await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
      await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
    });
  }

  await test.step("of twenty users who come at once for one key, one gets it", async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [key], project_id } = product;
    const calls = Array.from(
      { length: 20 },
      (_, nth) => recordFirstUse({ key: key!.id, project_id, username: `user ${nth}` }),
    );
    assertEquals((await Promise.all(calls)).toSorted(), [...Array(19).fill(false), true]);
  });
});

/** What an add-on might send in the place of a value. */
const WRONG = {
  key: [undefined, null, "", [KEY], `${KEY}#`, `${KEY}\n`, KEY.slice(1)],
  project_id: [undefined, null, "", [PROJECT_ID], `${PROJECT_ID}#`, PROJECT_ID.slice(1)],
  username: [undefined, null, "", ["Amelia"], "a".repeat(257), "a\0", "a\ud83d"],
};
const RIGHT = { key: KEY, project_id: PROJECT_ID, username: "Amelia" };

for (const [field, values] of Object.entries(WRONG)) {
  Deno.test(`first use: a ${field} that is missing or wrong → a ZodError, and no request`, async () => {
    let requests = 0;
    await using dataApi = serveOnLoopback(() => {
      requests++;
      return Response.json([]);
    });
    const recordFirstUse = await load(dataApi.url);
    for (const value of values) {
      const result = await recordFirstUse({ ...RIGHT, [field]: value });
      assertEquals(result, "throws a ZodError", JSON.stringify(value));
    }
    assertEquals(requests, 0);
    await recordFirstUse({ ...RIGHT, username: "🛩".repeat(256) });
    assertEquals(requests, 2, "after a call with right values");
  });
}

/**
 * What the Data API sends for Amelia, either to the update, or to the select that comes after an
 * update without a row. Where it is not known whose key it is, the function throws.
 */
const RESPONSES = [
  { status: 200, body: '[{"curr_user":"Amelia"}]', result: true },
  { status: 200, body: '[{"curr_user":"Bessie"}]', result: false },
  { status: 200, body: '[{"curr_user":" Amelia"}]', result: false },
  { status: 200, body: "[]", result: false },
  { status: 200, body: '[{"curr_user":null}]', result: "throws" },
  { status: 200, body: "{}", result: "throws" },
  { status: 200, body: "<h1>Welcome</h1>", result: "throws" },
  { status: 206, body: "[]", result: "throws" },
  { status: 307, body: "", result: "throws" }, // It leads to an empty list.
  { status: 401, body: '{"message":"Invalid API key"}', result: "throws" },
  { status: 404, body: "[]", result: "throws" },
  { status: 503, body: '{"code":"PGRST002"}', result: "throws" },
];

Deno.test("first use: when the Data API responds", async (test) => {
  const noRow = { status: 200, body: "[]" };
  let responses = [noRow];
  let paths: string[] = [];
  await using dataApi = serveOnLoopback((request) => {
    paths.push(new URL(request.url).pathname);
    const { status, body } = responses.shift() ?? noRow;
    const headers = { "Content-Type": "application/json", "Location": "/elsewhere" };
    return new Response(body, { status, headers });
  });
  const recordFirstUse = await load(dataApi.url);
  for (const { result, ...response } of RESPONSES) {
    for (const to of ["update", "select"]) {
      await test.step(`to the ${to} with ${response.status} and ${response.body} → ${result}`, async () => {
        [responses, paths] = [to === "update" ? [response] : [noRow, response], []];
        assertEquals(await recordFirstUse(RIGHT), result);
        assert(!paths.includes("/elsewhere"), "a redirect is followed");
      });
    }
  }
});

/** Ways in which the body of a 200 stalls, and how many bytes come before, one each half second. */
const STALLS: Record<string, number> = {
  "behind the headers": 0,
  "behind a byte": 1,
  "byte by byte": Infinity,
};

Deno.test("first use: a body that stalls, in three ways at the same time → each call throws within 11 s", async () => {
  let startedAt = NaN;
  await using dataApi = serveOnLoopback(async (request) => {
    const { curr_user } = await request.json();
    let left = STALLS[curr_user]!;
    const body = new ReadableStream({
      async pull(controller) {
        if (left-- === 0) await sleep(12_000);
        if (performance.now() - startedAt > 12_000) return controller.close();
        controller.enqueue(new TextEncoder().encode("["));
        await sleep(500);
      },
    });
    return new Response(body);
  });
  const recordFirstUse = await load(dataApi.url);
  startedAt = performance.now();
  const calls = Object.keys(STALLS).map((username) => recordFirstUse({ ...RIGHT, username }));
  assertEquals(await Promise.all(calls), ["throws", "throws", "throws"]);
  const tookMs = performance.now() - startedAt;
  assert(tookMs < 11_000, `${tookMs} ms`);
});
