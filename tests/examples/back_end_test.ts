/** The requests and the code on `examples/back-end/README.md`, run as they stand there. */
import { createClient } from "@supabase/supabase-js";
import { assertEquals } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { fillIn, readBlocks, sendRequest } from "../support/pages.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const PAGE = "examples/back-end/README.md";
const [HEADERS = "", ISSUE = "", REVOKE = "", FIRST_USE = ""] = await readBlocks(PAGE, "http");
const [CLIENT = "", CALL = ""] = await readBlocks(PAGE, "js");
const { SECRET_KEY } = service.settings;

/** Sends a request of the page, with its headers and the page's. Returns the status and the body. */
function send(request: string, values: Record<string, string> = {}) {
  const [first, ...others] = request.split("\n");
  const filled = [first, HEADERS, ...others].join("\n").replace(/\n$/, "");
  return sendRequest(
    fillIn(filled, { "secret key": SECRET_KEY, ...values }, service.settings.API_URL),
  );
}

Deno.test("back end: a key is issued, issued again, used, used again, and revoked twice", async () => {
  const values = { key: crypto.randomUUID(), project_id: crypto.randomUUID(), name: "Zoë" };
  assertEquals(await send(ISSUE, values), "201 ");
  assertEquals(await send(FIRST_USE, { ...values, name: "Amelia" }), "200 true");
  assertEquals(await send(ISSUE, values), "201 ");
  assertEquals(await send(FIRST_USE, values), "200 false");
  assertEquals(await send(FIRST_USE, { ...values, name: "Amelia" }), "200 true");
  await assertResponse(service.ask(values.project_id, "Amelia"), ACTIVE);
  assertEquals((await send(REVOKE, values)).slice(0, 6), "200 [{");
  await assertResponse(service.ask(values.project_id, "Amelia"), NOT_FOUND);
  assertEquals(await send(REVOKE, values), "200 []");
  assertEquals(await send(FIRST_USE, values), "200 false");
});

Deno.test("back end: keys that are sent as a list, one of them used, are a batch of one created_at", async () => {
  await using product = await service.issueKeys(["Amelia"]);
  const { keys: [used], project_id } = product;
  const keys = [used!.id, crypto.randomUUID(), crypto.randomUUID()];
  const json = '{"id":"<key>","project_id":"<project_id>"}';
  const list = keys.map((key) => fillIn(json, { key, project_id }));
  assertEquals(await send(ISSUE.replace(json, () => `[${list}]`)), "201 ");
  const path = `activation_keys?project_id=eq.${project_id}&select=curr_user,created_at`;
  const { text } = await service.callDataApi("GET", path);
  const rows: { curr_user: string | null; created_at: string }[] = JSON.parse(text);
  await service.changeKeys("DELETE", `?id=in.(${keys})`);
  const unused = rows.filter(({ curr_user }) => curr_user === null);
  assertEquals([rows.length, new Set(unused.map((row) => row.created_at)).size], [3, 1]);
});

/** Responses of a Data API, and the status that the page's code then has for the add-on. */
const RESPONSES: { when: string; response: () => Response | Promise<Response>; status: number }[] =
  [
    { when: "true", response: () => Response.json(true), status: 200 },
    { when: "false", response: () => Response.json(false), status: 409 },
    { when: "null", response: () => Response.json(null), status: 503 },
    { when: "a list", response: () => Response.json([]), status: 503 },
    { when: "no JSON", response: () => new Response("<html>"), status: 503 },
    { when: "201", response: () => Response.json(true, { status: 201 }), status: 503 },
    { when: "204", response: () => new Response(null, { status: 204 }), status: 503 },
    { when: "404 with a list", response: () => Response.json([], { status: 404 }), status: 503 },
    { when: "503", response: () => Response.json({}, { status: 503 }), status: 503 },
    { when: "a redirect to true", response: () => redirect("/0/"), status: 503 },
    { when: "a body that stalls", response: () => new Response(stalls()), status: 503 },
    { when: "silence", response: () => sleep(12_000, Response.json(true)), status: 503 },
  ];
const redirect = (Location: string) => new Response(null, { status: 307, headers: { Location } });
const stalls = () =>
  new Blob(["true"]).stream().pipeThrough(
    new TransformStream({
      transform: (part, body) => body.enqueue(part),
      flush: () => sleep(12_000),
    }),
  );

/** Serves the responses, and returns the code of the page's client for each of them. */
function serveResponses() {
  const server = serveOnLoopback(({ url }) =>
    RESPONSES[Number(new URL(url).pathname.split("/")[1])]!.response()
  );
  const clients = RESPONSES.map((_, place) =>
    fillIn(CLIENT, { "secret key": SECRET_KEY }, `${server.url}/${place}`)
  );
  return { clients, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}

Deno.test("back end: with the client and the call on the page, only a 200 with true or false is an answer, and all else a 503 after 10 s", async () => {
  await using dataApi = serveResponses();
  const statuses = dataApi.clients.map((client) =>
    new Function(
      "createClient",
      `const call = async ({ key, project_id, username }) => { ${CALL} return 200; };
      ${client} return call({ key: "", project_id: "", username: "" });`,
    )(createClient)
  );
  const seen = (await Promise.all(statuses)).map((status, at) => [RESPONSES[at]!.when, status]);
  assertEquals(seen, RESPONSES.map(({ when, status }) => [when, status]));
});

Deno.test("back end: with the page's client, a 404 whose body is a list is no success of a deletion", async () => {
  await using dataApi = serveResponses();
  const client = dataApi.clients[RESPONSES.findIndex(({ when }) => when === "404 with a list")];
  const supabase = new Function("createClient", `${client} return supabase;`)(createClient);
  const { status } = await supabase.from("activation_keys").delete().eq("id", "").select();
  assertEquals(status, 404);
});
