/** The code on the pages in `examples/add-on`, run against the service. */
import { parse } from "acorn";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { LOCAL_SERVICE, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import * as service from "../support/service_under_test.ts";

const PANEL = await readPage("examples/add-on/panel.js");
const [EXAMPLE = ""] = await readBlocks("examples/add-on/README.md", "js");
// The call of panel.js, and what stands in for the simulator in a browser.
const [ON_PAGE = "", STAND_INS = ""] = await readBlocks("examples/add-on/panel.md", "js");

const onService = (code: string) =>
  code.replaceAll("https://<ref>.supabase.co", service.settings.API_URL);

Deno.test("panel page: the simulator's engine, which knows ES2017, parses the code for panels", () => {
  for (const code of [PANEL, ON_PAGE]) parse(code, { ecmaVersion: 2017 });
});

Deno.test("add-on page: JavaScript gets 200 and 499, waits 10 s at most, and follows no redirect", async () => {
  const limits: unknown[] = [];
  const send = (url: string, { signal, redirect, ...init }: RequestInit) => {
    limits.push(`${signal}, ${redirect}`);
    return fetch(url, init);
  };
  const globals = { fetch: send, AbortSignal: { timeout: (ms: number) => `${ms} ms` } };
  const code = `${onService(EXAMPLE)}; return ask;`;
  const ask = new Function(...Object.keys(globals), code)(...Object.values(globals));
  assertEquals([await ask(SEEDED.username), await ask("nobody")], [200, 499]);
  assertEquals(limits, Array(2).fill("10000 ms, manual"));
});

Deno.test("add-on page: the servers of checks 6 and 7 have the local stack's port", async () => {
  const [lines = ""] = await readBlocks("examples/add-on/README.md", "sh", "Before you ship");
  const { hostname, port } = new URL(LOCAL_SERVICE.API_URL);
  for (const line of lines.split("\n")) {
    const [, code = ""] = line.match(/^node -e "(.*)"$/) ?? [];
    parse(code, { ecmaVersion: 2017 });
    assertStringIncludes(code, `.listen(${port},'${hostname}')`);
  }
});

/** What a panel shows for a name of `supabase/seed.sql`, and for another one. */
const PANELS = [
  { name: SEEDED.username, shows: "The add-on" },
  { name: "nobody", shows: "There is no active key for this name." },
];
const test = Deno.env.get("CHROMIUM") ? Deno.test : Deno.test.ignore;

for (const { name, shows } of PANELS) {
  test(`panel page: in Chromium, a panel for ${name} shows: ${shows}`, async () => {
    const page = `<!doctype html><meta charset="utf-8"><script>
      const readName = () => "${name}";
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
    assertStringIncludes(stdout, `<title>${shows}</title>`);
  });
}
