/** The code on `clients/README.md`, run against the service. */
import { parse } from "acorn";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import * as service from "../support/service_under_test.ts";

const PANEL = await readPage("clients/panel.js");
const PAGE = "clients/README.md";
const [EXAMPLE = "", ON_PAGE = "", STAND_INS = ""] = await readBlocks(PAGE, "js");
const [CURL = ""] = await readBlocks(PAGE, "sh");

const onService = (code: string) =>
  code.replaceAll("https://<ref>.supabase.co", service.settings.API_URL);

Deno.test("clients/README.md: the simulator's engine parses the code for panels", () => {
  for (const code of [PANEL, ON_PAGE]) parse(code, { ecmaVersion: 2017 });
});

Deno.test("clients/README.md: curl gets 200", async () => {
  const { stdout } = await runLine(onService(CURL));
  assertStringIncludes(stdout, "HTTP/1.1 200");
});

Deno.test("clients/README.md: JavaScript gets 200, and 499", async () => {
  const ask = new Function(`${onService(EXAMPLE)}; return ask;`)();
  assertEquals(await ask(SEEDED.username), 200);
  assertEquals(await ask("nobody"), 499);
});

const executablePath = Deno.env.get("CHROMIUM") ?? "";
const options = { ignore: !executablePath };
Deno.test("clients/README.md: the panel, in Chromium", options, async () => {
  const page = new Blob(["<!doctype html>"], { type: "text/html" });
  await using simulator = serveOnLoopback(() => new Response(page));
  await using browser = await chromium.launch({ executablePath });
  const tab = await browser.newPage();
  await tab.goto(simulator.url);
  const show = (name: string) =>
    tab.evaluate(`new Promise((show) => {
      ${STAND_INS} ${onService(PANEL)}
      const readName = () => ${JSON.stringify(name)};
      const showAddOn = () => show("the add-on");
      const showText = (text) => text.startsWith("Checking") || show(text);
      ${ON_PAGE}
    })`);
  assertEquals(await show(SEEDED.username), "the add-on");
  assertEquals(await show("nobody"), "There is no active key for this name.");
});
