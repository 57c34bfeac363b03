/** The code on `clients/README.md`, run against the service. */
import { parse } from "acorn";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { readBlocks, readPage } from "../support/pages.ts";
import { runLine } from "../support/processes.ts";
import * as service from "../support/service_under_test.ts";

const PANEL = await readPage("clients/panel.js");
const PAGE = "clients/README.md";
// The blocks of JavaScript on the page, in their order: the request, the call of panel.js, and what
// stands in for the simulator in a browser.
const [EXAMPLE = "", ON_PAGE = "", STAND_INS = ""] = await readBlocks(PAGE, "js");
const [CURL = ""] = await readBlocks(PAGE, "sh");

const onService = (code: string) =>
  code.replaceAll("https://<ref>.supabase.co", service.settings.API_URL);

Deno.test("clients/README.md: the simulator's engine, which knows ES2017, parses the code for panels", () => {
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

const chromium = Deno.env.get("CHROMIUM") ?? "";
/** What the panel shows in the end. */
const PANELS = [
  { name: SEEDED.username, shows: "The add-on" },
  { name: "nobody", shows: "There is no active key for this name." },
];

for (const { name, shows } of PANELS) {
  const test = { ignore: !chromium };
  Deno.test(`clients/README.md: the panel in Chromium, for ${name} → ${shows}`, test, async () => {
    const page = `<!doctype html><script>
      // The developer's functions, and then what is on the page.
      const readName = () => ${JSON.stringify(name)};
      const showText = (text) => document.title = text;
      const showAddOn = () => showText("The add-on");
      ${STAND_INS} ${onService(PANEL)} ${ON_PAGE}
    </script>`;
    const html = { headers: { "Content-Type": "text/html" } };
    await using simulator = serveOnLoopback(() => new Response(page, html));
    await using profile = await makeTempFolder();
    const { stdout } = await run(chromium, [
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
