/**
 * The function of `docs/operate.md` that records the first use of a key. It is taken from the page as
 * it stands there, and runs in a process of its own, as an operator's back end.
 */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { startFunction } from "../../tools/function_process.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_FOLDER, LOCAL_SERVICE } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readBlocks } from "../support/pages.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const KEY = "2b7e4c80-91d5-4f36-a0c8-6e13d9f52741";
const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

// The folder has the function's `deno.json`, and so its versions of supabase-js and zod.
const folder = await makeTempFolder(FUNCTION_FOLDER);
const index = new URL("index.ts", folder.url);
const [block = ""] = await readBlocks("docs/operate.md", "ts");
await Deno.writeTextFile(
  index,
  `${block}
  export default {
    async fetch(request: Request) {
      const [id, project_id, name] = await request.json();
      const result = await recordFirstUse(id, project_id, name).catch(() => "it throws");
      return Response.json(result);
    },
  };`,
);
Deno.test.afterAll(() => folder[Symbol.asyncDispose]());

/** Starts the back end on a Data API. Returns a function that records a first use. */
async function startBackEnd(apiUrl: string) {
  const env = { BACK_END_SECRET_KEY: LOCAL_SERVICE.SECRET_KEY };
  const { url, ...backEnd } = await startFunction(apiUrl, { folder: folder.url, env });
  const recordFirstUse = async (...values: [key: string, project_id: string, name: string]) => {
    const body = JSON.stringify(values);
    return await (await fetch(url, { method: "POST", body })).json();
  };
  return { ...backEnd, recordFirstUse };
}

Deno.test("first use: the page's function has the types that it says", async () => {
  const config = `--config=${fileURLToPath(new URL("deno.json", folder.url))}`;
  const { code, stderr } = await run(Deno.execPath(), ["check", config, fileURLToPath(index)]);
  assertEquals(code, 0, stderr);
});

/** If such a name were a part of an address or a filter, it would find used keys, too. */
const HARMFUL = "x,curr_user.not.is.null";
const ODD = [" a", "null", "true", "{a}", `a,b.c:d(e)"f"\\g`, "100%_*", "is.null", "O'Dea", "小雪"];

Deno.test("first use: on the local stack", async (test) => {
  await using backEnd = await startBackEnd(service.settings.API_URL);
  const { recordFirstUse } = backEnd;
  for (const name of [HARMFUL, ...ODD]) {
    await test.step(`${name} gets an unused key, gets it again, and gets no other key`, async () => {
      await using product = await service.issueKeys([null, "Bessie"]);
      const { keys: [unused, bessies], project_id } = product;
      const otherProject = crypto.randomUUID();
      assertEquals(await recordFirstUse(KEY, project_id, name), false, "no such key");
      assertEquals(
        await recordFirstUse(unused!.id, otherProject, name),
        false,
        "another project_id",
      );
      assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "at first");
      assertEquals(await recordFirstUse(unused!.id, project_id, name), true, "again");
      assertEquals(await recordFirstUse(unused!.id, project_id, "Bessie"), false, "another user");
      assertEquals(await recordFirstUse(bessies!.id, project_id, name), false, "Bessie's key");
      // The service finds both users afterwards, so Bessie's key is still hers.
      await assertResponse(service.ask(project_id, name), ACTIVE);
      await assertResponse(service.ask(project_id, "Bessie"), ACTIVE);
      await assertResponse(service.ask(project_id, "Charles"), NOT_FOUND);
    });
  }

  await test.step("of twenty users who come at once for one key, one gets it", async () => {
    await using product = await service.issueKeys([null]);
    const { keys: [key], project_id } = product;
    const users = Array.from({ length: 20 }, (_, nth) => `user ${nth}`);
    const results = await Promise.all(
      users.map((user) => recordFirstUse(key!.id, project_id, user)),
    );
    assertEquals(results.toSorted(), [...Array(19).fill(false), true]);
  });
});

const AMELIAS_ROW = '[{"curr_user":"Amelia"}]';
const BESSIES_ROW = '[{"curr_user":"Bessie"}]';

/**
 * What the Data API sends to the update for Amelia, or to the select, after an update that has
 * changed no row. Where it is not known whose key it is, the function throws.
 */
const RESPONSES = [
  { to: "update", status: 200, body: AMELIAS_ROW, result: true },
  // This is another caller's response. The select, which comes next, gets no row.
  { to: "update", status: 200, body: BESSIES_ROW, result: false },
  { to: "update", status: 401, body: '{"message":"Invalid API key"}', result: "it throws" },
  { to: "update", status: 503, body: '{"code":"PGRST002"}', result: "it throws" },
  { to: "update", status: 200, body: "<h1>Welcome</h1>", result: "it throws" },
  { to: "update", status: 404, body: "[]", result: "it throws" },
  { to: "update", status: 206, body: "[]", result: "it throws" },
  { to: "update", status: 200, body: "{}", result: "it throws" },
  { to: "update", status: 307, body: "", result: "it throws" }, // It leads to an empty list.
  { to: "select", status: 200, body: AMELIAS_ROW, result: true },
  { to: "select", status: 200, body: BESSIES_ROW, result: false },
  { to: "select", status: 200, body: '[{"curr_user":" Amelia"}]', result: false },
  { to: "select", status: 200, body: "[]", result: false },
  { to: "select", status: 401, body: '{"message":"Invalid API key"}', result: "it throws" },
  { to: "select", status: 200, body: "<h1>Welcome</h1>", result: "it throws" },
  { to: "select", status: 404, body: "[]", result: "it throws" },
  { to: "select", status: 206, body: "[]", result: "it throws" },
  { to: "select", status: 200, body: "{}", result: "it throws" },
  { to: "select", status: 200, body: '[{"curr_user":null}]', result: "it throws" },
];

Deno.test("first use: when the Data API responds", async (test) => {
  const noRow = { status: 200, body: "[]" };
  let responses = [noRow];
  await using dataApi = serveOnLoopback(() => {
    const { status, body } = responses.shift() ?? noRow;
    const headers = { "Content-Type": "application/json", "Location": "/" };
    return new Response(body, { status, headers });
  });
  await using backEnd = await startBackEnd(dataApi.url);
  for (const { to, result, ...response } of RESPONSES) {
    await test.step(`to the ${to} with ${response.status} and ${response.body} → ${result}`, async () => {
      responses = to === "update" ? [response] : [noRow, response];
      assertEquals(await backEnd.recordFirstUse(KEY, PROJECT_ID, "Amelia"), result);
    });
  }
});
