/** The code on the pages in `examples/add-on`, run against the service. */
import http, { type RequestListener } from "node:http";
import { parse } from "acorn";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import { LOCAL_SERVICE, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { sendTo } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const PANEL = await readPage("examples/add-on/panel.js");
// The call of panel.js, and what stands in for the simulator in a browser.
const [ON_PAGE = "", STAND_INS = ""] = await readBlocks("examples/add-on/panel.md", "js");

const onService = (code: string) =>
  code.replaceAll("https://<ref>.supabase.co", service.settings.API_URL);

Deno.test("panel page: the simulator's engine, which knows ES2017, parses the code for panels", () => {
  for (const code of [PANEL, ON_PAGE]) parse(code, { ecmaVersion: 2017 });
});

Deno.test("add-on page: the servers of checks 5 and 6 have the local stack's address, and that of check 7 responds with the status in the key", async () => {
  const [lines = ""] = await readBlocks("examples/add-on/README.md", "sh", "Before you ship");
  let respond: RequestListener = () => {};
  const addresses: string[] = [];
  const createServer = (listener: RequestListener) => {
    respond = listener;
    return { listen: (port: number, host: string) => addresses.push(`http://${host}:${port}`) };
  };
  for (const line of lines.split("\n")) {
    const [, code = ""] = line.match(/^node -e "([^"]*)"$/) ?? [];
    new Function("require", code)(() => ({ createServer }));
  }
  assertEquals(addresses, [LOCAL_SERVICE.API_URL, LOCAL_SERVICE.API_URL, "http://127.0.0.1:8322"]);
  await using backEnd = await listenOnLoopback(http.createServer(respond));
  for (const status of [200, 400, 409, 503]) {
    const body = JSON.stringify({ key: `00000${status}-0000-4000-8000-000000000000` });
    assertEquals((await sendTo(backEnd.url, { body })).status, status);
  }
});

const test = Deno.env.get("CHROMIUM") ? Deno.test : Deno.test.ignore;
test("panel page: in Chromium, a panel shows the add-on to a user of `supabase/seed.sql`", async () => {
  const page = `<!doctype html><meta charset="utf-8"><script>
      const readName = () => "${SEEDED.username}";
      const showText = (text) => document.title = text;
      const showAddOn = () => showText("The add-on");
      ${STAND_INS}</script><script>${PANEL}</script><script>${onService(ON_PAGE)}</script>`;
  const html = { headers: { "Content-Type": "text/html" } };
  await using simulator = serveOnLoopback(() => new Response(page, html));
  await using profile = await makeTempFolder();
  const { stdout } = await run(Deno.env.get("CHROMIUM")!, [
    "--headless",
    "--no-sandbox", // With the sandbox, Chromium does not run as root.
    "--disable-background-networking",
    `--user-data-dir=${fileURLToPath(profile.url)}`,
    "--virtual-time-budget=5000", // Waits 5 s by a clock that stands still during a request.
    "--dump-dom",
    simulator.url,
  ]);
  assertStringIncludes(stdout, `<title>The add-on</title>`);
});
