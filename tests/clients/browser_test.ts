/** Pages in a real browser: one of another origin, as an in-game HTML panel is, and the stack's. */
import { assert, assertEquals } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readExample } from "../support/pages.ts";
import {
  changeKeys,
  issueKeys,
  serviceUnderTest,
} from "../support/service_under_test.ts";

/** The system's own browser. A path counts before a channel. */
const { os } = Deno.build;
const BROWSER = {
  channel: os === "windows" ? "msedge" : "chrome",
  executablePath: Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : ""),
};

/** What the panel uses of the simulator. */
const SIMULATOR = `
  GetStoredData = (key) => localStorage.getItem(key);
  SetStoredData = (key, text) => localStorage.setItem(key, text);
  RegisterViewListener = (name, ready) => location.hash || setTimeout(ready);
  SimVar = { GetSimVarValue: (name) => Number(localStorage.getItem(name)) };
  triggered = [];
  Coherent = { on() {}, trigger: (event) => triggered.push(event) };`;

Deno.test("browser: panel.html, from another origin", async () => {
  const { API_URL } = serviceUnderTest();
  await using product = await issueKeys(["Zoë#4821"]);
  const panel = (await readExample("panel.js"))
    .replace("https://<ref>.supabase.co", API_URL)
    .replace(SEEDED.project_id, product.id);
  const page = (await readExample("panel.html"))
    .replace("https://shop.example", "")
    .replace('<script src="panel.js">', () => `<script>${SIMULATOR}${panel}`);
  const html = new Blob([page], { type: "text/html; charset=utf-8" });
  await using simulator = serveOnLoopback(() => new Response(html));
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  const asked: string[] = [];
  const session = await tab.context().newCDPSession(tab);
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ request: { url, method } }) => {
    if (url === API_URL + FUNCTION_URL_PATH) asked.push(method);
    if (url.endsWith("/activate")) asked.push("activate");
  });

  // Without a storage, it begins after 5 s.
  await tab.goto(`${simulator.url}/#none`);
  await tab.getByText("Type your name and your key.").waitFor();
  await tab.fill("#name", " x ");
  await tab.click("button");
  await tab.getByText("There is no active key for this name.").waitFor();
  await tab.fill("#name", " Zoë#4821 ");
  await tab.fill("#key", "AAAA-1");
  await tab.dblclick("button");
  await tab.getByText("The panel").waitFor();
  // The code sets no headers, so there is no preflight. A second click does nothing.
  assertEquals(asked.splice(0), ["POST", "activate", "POST"]);
  const focus = ["FOCUS_INPUT_FIELD", "UNFOCUS_INPUT_FIELD"];
  assertEquals(await tab.evaluate("triggered"), Array(3).fill(focus).flat());

  // Without the key, nobody is locked before the aircraft stands with its engine off.
  await changeKeys("DELETE", `?project_id=eq.${product.id}`);
  await tab.goto(simulator.url);
  await tab.getByText("The panel").waitFor();
  await tab.waitForFunction("!activation.storedName()");
  const vars = ["SIM ON GROUND", "GROUND VELOCITY", "GENERAL ENG COMBUSTION:1"];
  for (const state of ["0,0,0", "1,60,0", "1,0,1", "1,0,0"]) {
    const values = state.split(",").map((it, nth) => [vars[nth], it]);
    const json = JSON.stringify(Object.fromEntries(values));
    await tab.evaluate(`Object.assign(localStorage, ${json}); draw()`);
    assertEquals(await tab.isVisible("form"), state === "1,0,0", state);
  }
  assertEquals(asked.splice(0), ["POST"]);
});

Deno.test("browser: the page of the stack asks the function", async () => {
  const { API_URL } = serviceUnderTest();
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  const urls: string[] = [];
  const errors: string[] = [];
  tab.on("request", (request) => urls.push(request.url()));
  tab.on("pageerror", (error) => errors.push(error.message));
  tab.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  const operation = tab.locator("#operations-default-checkUsernameActive");
  const field = operation.locator("textarea");
  /** One click. Returns the response as the page shows it. */
  const execute = async () => {
    await operation.getByRole("button", { name: "Execute" }).click();
    const shown = operation.locator(".live-responses-table tbody");
    const status = await shown.locator(".response-col_status").innerText();
    const details = shown.locator(".response-col_description");
    const body = await details.locator("code").first().innerText();
    assert(!(await details.innerText()).includes("Error"));
    await operation.getByRole("button", { name: "Clear" }).click();
    return { status: Number(status), body: JSON.parse(body) };
  };

  await tab.goto(`${API_URL}/`);
  // The seed's user and this address are filled in.
  assertEquals(JSON.parse(await field.inputValue()), SEEDED);
  assertEquals(await execute(), ACTIVE);
  await field.fill(JSON.stringify({ ...SEEDED, username: "nobody" }));
  assertEquals(await execute(), NOT_FOUND);

  // No request left this machine.
  assert(urls.every((url) => url.startsWith(API_URL) || /^data:/.test(url)));
  // Chromium itself writes an error for any status from 400 up.
  assertEquals(errors.filter((error) => !error.includes("of 499")), []);
});
