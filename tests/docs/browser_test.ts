/** Pages in a real browser: one of another origin, as an in-game HTML panel is, and the stack's. */
import { assert, assertEquals } from "@std/assert";
import { type Browser, chromium, type Page } from "playwright-core";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { ACTIVE, NOT_FOUND } from "../support/answers.ts";
import { issueKeys } from "../support/issue_keys.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";
import { codeOf } from "./callers.ts";

/** Registers a test in a real browser. It gets a tab, and a way to run steps. */
function test(
  name: string,
  fn: (given: { tab: Page; step: Deno.TestContext["step"] }) => Promise<void>,
): void {
  Deno.test({
    name,
    // The browser's pipes are Playwright's, which closes them a little later than it says.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn({ step }) {
      await using browser = await launchBrowser();
      await fn({ tab: await browser.newPage(), step });
    },
  });
}

const USER = "Zoë#4821";
const JSON_TYPE = { "Content-Type": "application/json" };
const ALL_HEADERS = {
  ...JSON_TYPE,
  Authorization: "Bearer x",
  apikey: "x",
  "X-Client-Info": "x",
};

/** The headers that the page sends, and the methods that the browser uses for it. */
const ROWS: [
  name: string,
  headers: Record<string, string>,
  methods?: string[],
][] = [
  ["after a preflight", JSON_TYPE, ["OPTIONS", "POST"]],
  ["the preflight is kept", JSON_TYPE, ["POST"]],
  ["without a preflight", {}, ["POST"]],
  ["with the headers of supabase-js", ALL_HEADERS],
];

test("browser: a page of another origin calls the function", async ({ tab, step }) => {
  const { API_URL } = serviceUnderTest();
  await using page = serveOnLoopback(() =>
    new Response("<!doctype html><title>Panel</title>", {
      headers: { "Content-Type": "text/html" },
    })
  );
  await using project = await issueKeys([USER]);
  // Another origin: its host is another name.
  await tab.goto(page.url.replace("127.0.0.1", "localhost"));
  const methods: string[] = [];
  const session = await tab.context().newCDPSession(tab);
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ request }) => {
    // The browser may ask the page's own origin for an icon at any time.
    if (request.url.startsWith(API_URL)) methods.push(request.method);
  });

  const body = JSON.stringify({ username: USER, project_id: project.id });
  for (const [name, headers, expected] of ROWS) {
    await step(`200, ${name}`, async () => {
      methods.length = 0;
      const response = await tab.evaluate(
        async ([url, body, headers]) => {
          const init = { method: "POST", headers, body };
          const response = await fetch(url, init);
          return [response.status, await response.json()];
        },
        [API_URL + FUNCTION_PATH, body, headers] as const,
      );
      assertEquals(response, [ACTIVE.status, ACTIVE.body]);
      if (expected) assertEquals(methods.toSorted(), expected);
    });
  }

  await step("the panel's code of the page for callers", async () => {
    const code = (await codeOf("panel"))
      .replaceAll(LOCAL_SERVICE.API_URL, API_URL)
      .replace(/(PROJECT_ID = )"[^"]+"/, `$1"${project.id}"`);
    const ask = (user: string) =>
      tab.evaluate(`{ ${code} checkActive(${JSON.stringify(user)}) }`);
    assertEquals(await ask(USER), "active");
    assertEquals(await ask("x"), "inactive");
    assertEquals(await ask(""), "mistake");
  });
});

test("browser: the page asks the function and issues keys", async ({ tab, step }) => {
  const { API_URL } = serviceUnderTest();
  const hosts = new Set<string>();
  const errors: string[] = [];
  tab.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:") hosts.add(origin);
  });
  tab.on("pageerror", (error) => errors.push(error.message));
  tab.on("console", (message) => {
    // Chromium itself writes an error for any status from 400 up.
    if (message.type() !== "error" || /status of 499/.test(message.text())) {
      return;
    }
    errors.push(message.text());
  });

  /** Opens one of the two documents. */
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

  await step(
    "200: the seed's user and this address are filled in",
    async () => {
      assertEquals(JSON.parse(await field.inputValue()), SEEDED);
      assertEquals(await execute("checkUsernameActive"), ACTIVE);
    },
  );
  await step("499: another name, and no error", async () => {
    assertEquals(await ask("Amelia#1937"), NOT_FOUND);
  });
  await step("200: a key is added", async () => {
    await open("Issue keys (local stack only)");
    await tab.getByText("This exists on the local stack alone.").waitFor();
    const { status, body } = await execute("addKey");
    assertEquals([status, body[0].curr_user], [201, "Amelia#1937"]);
    assertEquals(await ask("Amelia#1937"), ACTIVE);
  });
  await step("499: the key is taken away", async () => {
    await open("Issue keys (local stack only)");
    const { status, body } = await execute("removeKeys");
    assertEquals([status, body.length], [200, 1]);
    assertEquals(await ask("Amelia#1937"), NOT_FOUND);
  });
  await step(
    "no request left this machine, and no error is in the console",
    () => {
      assertEquals([...hosts], [API_URL]);
      assertEquals(errors, []);
    },
  );
});

/**
 * Starts the browser that `CHROMIUM` names. If it names none: Edge on Windows, Chrome on macOS,
 * Debian's Chromium on Linux.
 */
function launchBrowser(): Promise<Browser> {
  const { os } = Deno.build;
  const executablePath = Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : undefined);
  if (executablePath) return chromium.launch({ executablePath });
  return chromium.launch({ channel: os === "windows" ? "msedge" : "chrome" });
}
