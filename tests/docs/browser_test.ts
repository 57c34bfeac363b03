/** Pages in a real browser: one of another origin, as an in-game HTML panel is, and the stack's. */
import { assert, assertEquals } from "@std/assert";
import { chromium } from "playwright-core";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { readExample } from "../support/pages.ts";
import { issueKeys, serviceUnderTest } from "../support/service_under_test.ts";

/** The system's own browser. A path counts before a channel. */
const { os } = Deno.build;
const BROWSER = {
  channel: os === "windows" ? "msedge" : "chrome",
  executablePath: Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : ""),
};

const USER = "Zoë#4821";
const JSON_TYPE = { "Content-Type": "application/json" };
const OF_SUPABASE_JS = {
  ...JSON_TYPE,
  Authorization: "Bearer x",
  apikey: "x",
  "X-Client-Info": "x",
};

Deno.test("browser: a page of another origin calls the function", async () => {
  const { API_URL } = serviceUnderTest();
  await using product = await issueKeys([USER]);
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  // Another origin: its host is another name.
  await tab.goto(API_URL.replace("127.0.0.1", "localhost"));
  const methods: string[] = [];
  const session = await tab.context().newCDPSession(tab);
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ request }) => {
    // The browser may ask the page's own origin for an icon at any time.
    if (request.url.startsWith(API_URL)) methods.push(request.method);
  });

  const code = (await readExample("panel.js"))
    .replace("https://<ref>.supabase.co", API_URL)
    .replace(SEEDED.project_id, product.id);
  const ask = (user: string) =>
    tab.evaluate(`{ ${code} activation.checkActive(${JSON.stringify(user)}) }`);
  assertEquals(await ask(USER), "active");
  assertEquals(await ask("x"), "inactive");
  assertEquals(await ask(""), "mistake");
  // The panel's code sets no headers.
  assertEquals(methods.splice(0), ["POST", "POST", "POST"]);

  const body = JSON.stringify({ username: USER, project_id: product.id });
  for (const headers of [JSON_TYPE, OF_SUPABASE_JS]) {
    const response = await tab.evaluate(
      async ([url, init]) => {
        const response = await fetch(url, init);
        return { status: response.status, body: await response.json() };
      },
      [API_URL + FUNCTION_PATH, { method: "POST", headers, body }] as const,
    );
    assertEquals(response, ACTIVE);
  }
  // The second one goes by the preflight of the first.
  assertEquals(methods.sort(), ["OPTIONS", "POST", "POST"]);
});

Deno.test("browser: the page of the stack asks the function and issues keys", async () => {
  const { API_URL } = serviceUnderTest();
  await using browser = await chromium.launch(BROWSER);
  const tab = await browser.newPage();
  const origins = new Set<string>();
  const errors: string[] = [];
  tab.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:") origins.add(origin);
  });
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
    const text = await details.innerText();
    assert(!text.includes("Error"), text);
    await operation.getByRole("button", { name: "Clear" }).click();
    return { status: Number(status), body: JSON.parse(body) };
  };
  const field = tab.locator("#operations-default-checkUsernameActive textarea");
  const ask = async (username: string) => {
    await open("Ask whether a user is active");
    await field.fill(JSON.stringify({ ...SEEDED, username }));
    return await execute("checkUsernameActive");
  };

  await tab.goto(`${API_URL}/`);
  // The seed's user and this address are filled in.
  assertEquals(JSON.parse(await field.inputValue()), SEEDED);
  assertEquals(await execute("checkUsernameActive"), ACTIVE);
  assertEquals(await ask("Amelia#1937"), NOT_FOUND);

  await open("Issue keys (local stack only)");
  await tab.getByText("This exists on the local stack alone.").waitFor();
  const added = await execute("addKey");
  assertEquals([added.status, added.body[0].curr_user], [201, "Amelia#1937"]);
  assertEquals(await ask("Amelia#1937"), ACTIVE);

  await open("Issue keys (local stack only)");
  const removed = await execute("removeKeys");
  assertEquals([removed.status, removed.body.length], [200, 1]);
  assertEquals(await ask("Amelia#1937"), NOT_FOUND);

  // No request left this machine.
  assertEquals([...origins], [API_URL]);
  // Chromium itself writes an error for any status from 400 up.
  assertEquals(errors.filter((error) => !error.includes("of 499")), []);
});
