/** The code on `clients/README.md`, run against the service. */
import { parse } from "acorn";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import { service } from "../support/service_under_test.ts";

const PANEL = await readPage("clients/panel.js");
const PAGE = "clients/README.md";
const [EXAMPLE = "", SNIPPET = ""] = await readBlocks(PAGE, "js");
const [CURL = ""] = await readBlocks(PAGE, "sh");

const onService = (code: string) =>
  code.replace("https://<ref>.supabase.co", service.API_URL);

Deno.test("callers' page: the simulator's engine parses the code for panels", () => {
  for (const code of [PANEL, SNIPPET]) parse(code, { ecmaVersion: 2017 });
});

Deno.test("callers' page: curl gets 200", async () => {
  const { stdout } = await runLine(onService(CURL));
  assertStringIncludes(stdout, "HTTP/1.1 200");
});

Deno.test("callers' page: JavaScript gets 200, and 499", async () => {
  const ask = new Function(`${onService(EXAMPLE)}; return ask;`)();
  assertEquals(await ask(SEEDED.username), 200);
  assertEquals(await ask("nobody"), 499);
});

const executablePath = Deno.env.get("CHROMIUM") ?? "";
const options = { ignore: !executablePath };
Deno.test("callers' page: the panel, in Chromium", options, async () => {
  const page = new Blob(["<!doctype html>"], { type: "text/html" });
  await using simulator = serveOnLoopback(() => new Response(page));
  await using browser = await chromium.launch({ executablePath });
  const tab = await browser.newPage();
  await tab.goto(simulator.url);
  await tab.evaluate(`${onService(PANEL)} new Promise((showPanel, showLock) => {
    const RegisterViewListener = (_name, listener) => listener();
    const showForm = () => start("${SEEDED.username}");
    ${SNIPPET}
  })`);
});
