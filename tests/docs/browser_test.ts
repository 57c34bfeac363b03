/** Pages in a real browser: one of another origin, as an in-game HTML panel is, and the stack's. */
import { assert, assertEquals } from "@std/assert";
import { chromium } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { CALLERS, codeBlock, readExample } from "../support/pages.ts";
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
  RegisterViewListener = (name, ready) => setTimeout(ready);
  SimVar = { GetSimVarValue: () => !localStorage.getItem("isFlying") };`;

Deno.test("browser: the panel on the page, from another origin", async () => {
  const { API_URL } = serviceUnderTest();
  await using product = await issueKeys(["Zoë#4821"]);
  const panel = (await readExample("panel.js"))
    .replace("https://<ref>.supabase.co", API_URL)
    .replace(SEEDED.project_id, product.id);
  const page = (await codeBlock(CALLERS, "html", ""))
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
    if (url === API_URL + FUNCTION_PATH) asked.push(method);
    if (url.endsWith("/activate")) asked.push("activate");
  });

  await tab.goto(simulator.url);
  await tab.fill("#name", " x ");
  await tab.click("button");
  await tab.getByText("There is no active key for this name.").waitFor();
  await tab.fill("#name", " Zoë#4821 ");
  await tab.fill("#key", "AAAA-1");
  await tab.click("button");
  await tab.getByText("The panel").waitFor();
  // The code sets no headers, so there is no preflight.
  assertEquals(asked.splice(0), ["POST", "activate", "POST"]);

  // Without the key, whoever is flying is locked only after the flight.
  await changeKeys("DELETE", `?project_id=eq.${product.id}`);
  await tab.evaluate("localStorage.setItem('isFlying', 'yes')");
  await tab.reload();
  await tab.getByText("The panel").waitFor();
  await tab.waitForFunction("!activation.storedName()");
  assert(await tab.isVisible("main"));
  await tab.evaluate("localStorage.removeItem('isFlying')");
  await tab.waitForSelector("form:visible");
  assertEquals(asked.splice(0), ["POST"]);
});

Deno.test("browser: the page of the stack asks the function and issues keys", async () => {
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

  const open = (document: string) =>
    tab.getByLabel("Select a definition").selectOption({ label: document });
  /** One click. Gives the response as the page shows it. */
  const execute = async (operationId: string) => {
    const operation = tab.locator(`#operations-default-${operationId}`);
    await operation.getByRole("button", { name: "Execute" }).click();
    const shown = operation.locator(".live-responses-table tbody");
    const status = await shown.locator(".response-col_status").innerText();
    const details = shown.locator(".response-col_description");
    const body = await details.locator("code").first().innerText();
    assert(!(await details.innerText()).includes("Error"));
    await operation.getByRole("button", { name: "Clear" }).click();
    return { status: Number(status), body: JSON.parse(body) };
  };
  const field = tab.locator("#operations-default-checkUsernameActive textarea");

  await tab.goto(`${API_URL}/`);
  // The seed's user and this address are filled in.
  assertEquals(JSON.parse(await field.inputValue()), SEEDED);
  assertEquals(await execute("checkUsernameActive"), ACTIVE);

  // The user for whom the page issues keys.
  const user = JSON.stringify({ ...SEEDED, username: "Amelia#1937" });
  const operations = { addKey: [201, ACTIVE], removeKeys: [200, NOT_FOUND] };
  for (const [operation, expected] of Object.entries(operations)) {
    await open("Issue keys (local stack only)");
    await tab.getByText("This exists on the local stack alone.").waitFor();
    const { status, body } = await execute(operation);
    assertEquals(body.length, 1);
    await open("Ask whether a user is active");
    await field.fill(user);
    assertEquals([status, await execute("checkUsernameActive")], expected);
  }

  // No request left this machine.
  assert(urls.every((url) => url.startsWith(API_URL) || /^data:/.test(url)));
  // Chromium itself writes an error for any status from 400 up.
  assertEquals(errors.filter((error) => !error.includes("of 499")), []);
});
