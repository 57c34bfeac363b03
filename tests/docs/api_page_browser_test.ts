/** The page at the local stack's address, in a real browser: ask, add a key, take it away. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { ACTIVE, NOT_FOUND } from "../support/answers.ts";
import { browserTest as test } from "../support/browser.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

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
    if (message.type() !== "error") return;
    errors.push(`${message.text()} ${message.location().url}`);
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
    await operation.getByRole("button", { name: "Clear" }).click();
    return { response: [Number(status), JSON.parse(body)], text };
  };
  const body = tab.locator("#operations-default-checkUsernameActive")
    .locator("textarea");
  const ask = async (username: string) => {
    await body.fill(JSON.stringify({ ...SEEDED, username }));
    return await execute("checkUsernameActive");
  };

  await tab.goto(`${API_URL}/`);

  await step(
    "200: the seed's user and this address are filled in",
    async () => {
      assertEquals(JSON.parse(await body.inputValue()), SEEDED);
      assertEquals(
        await tab.locator(".servers select").inputValue(),
        API_URL,
      );
      const { response } = await execute("checkUsernameActive");
      assertEquals(response, [ACTIVE.status, ACTIVE.body]);
    },
  );
  await step("499: another name, and no error", async () => {
    const { response, text } = await ask("Amelia#1937");
    assertEquals(response, [NOT_FOUND.status, NOT_FOUND.body]);
    assert(!text.includes("Error"), text);
  });
  await step("200: a key is added", async () => {
    await open("Issue keys (local stack only)");
    await tab.getByText("This exists on the local stack alone.").waitFor();
    const { response: [status, keys] } = await execute("addKey");
    assertEquals([status, keys[0].curr_user], [201, "Amelia#1937"]);
    await open("Ask whether a user is active");
    const { response } = await ask("Amelia#1937");
    assertEquals(response, [ACTIVE.status, ACTIVE.body]);
  });
  await step("499: the key is taken away", async () => {
    await open("Issue keys (local stack only)");
    const { response: [status, keys] } = await execute("removeKeys");
    assertEquals([status, keys.length], [200, 1]);
    await open("Ask whether a user is active");
    const { response } = await ask("Amelia#1937");
    assertEquals(response, [NOT_FOUND.status, NOT_FOUND.body]);
  });
  await step("no request left this machine", () => {
    assertEquals([...hosts], [API_URL]);
  });
  await step("no error in the console", () => {
    // Chromium itself writes this one for any status from 400 up, with a reason phrase behind it.
    const [first, second, ...others] = errors;
    for (const error of [first, second]) {
      assertStringIncludes(error ?? "", "responded with a status of 499");
      assertStringIncludes(error ?? "", API_URL + FUNCTION_PATH);
    }
    assertEquals(others, []);
  });
});
