/** panel.js, as it ships, in a real browser: from another origin, against the local stack. */
import { assertEquals } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

/** The system's own browser. A path counts before a channel. */
const { os } = Deno.build;
const BROWSER = {
  channel: os === "windows" ? "msedge" : "chrome",
  executablePath: Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : ""),
};

Deno.test("browser: panel.js, from another origin", async () => {
  const { API_URL } = serviceUnderTest();
  const panel = await readPage("supabase/clients/panel.js");
  const headers = {
    "Access-Control-Allow-Origin": "*",
    "Content-Type": "application/json",
    "Location": API_URL + FUNCTION_URL_PATH,
  };
  // Bodies stall after the first byte, before which Chromium gives a page no status.
  await using odd = serveOnLoopback(({ url }) => {
    const start = (body: ReadableStreamDefaultController) =>
      body.enqueue(new Uint8Array([123]));
    const status = url.includes("/stalls") ? 499 : 307;
    return new Response(new ReadableStream({ start }), { status, headers });
  });
  await using simulator = serveOnLoopback((request) => {
    const base = new URL(request.url).searchParams.get("ask") ?? "";
    const script = panel.replace("https://<ref>.supabase.co", base);
    const head = `<meta charset="utf-8"><script>${script}</script>`;
    return new Response(head, { headers: { "Content-Type": "text/html" } });
  });
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  const session = await tab.context().newCDPSession(tab);
  const asked: string[] = [];
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ request: { url, method } }) => {
    if (url.endsWith(FUNCTION_URL_PATH)) asked.push(method);
  });

  for (
    const [base, name, called] of [
      [API_URL, SEEDED.username, "unlock"],
      [API_URL, "nobody", "lock inactive"],
      [`${odd.url}/stalls`, "nobody", "lock inactive"],
      [`${odd.url}/redirects`, SEEDED.username, "lock no answer"],
    ] as const
  ) {
    await tab.goto(`${simulator.url}?ask=${base}`);
    const call = await tab.evaluate(`new Promise((resolve) =>
      activation.keepAsking("${name}", () => resolve("unlock"),
        (result) => resolve("lock " + result)))`);
    assertEquals(call, called, base);
  }
  // The code sets no headers, so there is no preflight. The last one is redirected.
  assertEquals(asked, Array(5).fill("POST"));
});
