/** panel.js in a real browser, called as clients/README.md shows: it asks from another origin. */
import { assertEquals } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { readBlock, readPage } from "../support/pages.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

/** Playwright takes the path or, if that is empty, the channel. */
const BROWSER = {
  executablePath: Deno.env.get("CHROMIUM") ?? "",
  channel: Deno.build.os === "windows" ? "msedge" : "chrome",
};

Deno.test("browser: panel.js, from another origin", async () => {
  const { API_URL } = serviceUnderTest();
  const panel = await readPage("supabase/clients/panel.js");
  const code = panel.replace("https://<ref>.supabase.co", API_URL);
  const snippet = await readBlock("supabase/clients/README.md", "js");
  const page = new Blob(["<!doctype html>"], { type: "text/html" });
  await using simulator = serveOnLoopback(() => new Response(page));
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  const calls: unknown[] = [];
  for (const name of [SEEDED.username, "nobody"]) {
    await tab.goto(simulator.url);
    const script = `${code} new Promise((resolve) => {
      const RegisterViewListener = (_name, listener) => listener();
      const showForm = () => start("${name}");
      const showPanel = () => resolve("unlock");
      const showLock = (result) => resolve("lock " + result);
      ${snippet}\n })`;
    calls.push(await tab.evaluate(script));
  }
  assertEquals(calls, ["unlock", "lock inactive"]);
});
