/** A page of another origin, in a real browser, as an in-game HTML panel is one. */
import { assertEquals } from "@std/assert";
import { FUNCTION_PATH } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { launchBrowser } from "../support/browser.ts";
import { ACTIVE, MISSING, NOT_FOUND } from "../support/answers.ts";
import { issueKeys } from "../support/issue_keys.ts";
import { codeBlock } from "../support/pages.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

Deno.test({
  name: "browser: a page of another origin calls the function",
  // The browser's pipes are Playwright's, which closes them a little later than it says.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(context) {
    await using page = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () =>
        new Response("<!doctype html><title>Panel</title>", {
          headers: { "Content-Type": "text/html" },
        }),
    );
    await using project = await issueKeys(["Zoë#4821"]);
    const browser = await launchBrowser();
    try {
      const tab = await browser.newPage();
      // Another origin: its host is another name.
      await tab.goto(`http://localhost:${page.addr.port}/`);
      const requests: string[] = [];
      const session = await tab.context().newCDPSession(tab);
      await session.send("Network.enable");
      session.on(
        "Network.requestWillBeSent",
        ({ request }) => {
          // The browser may ask the page's own origin for an icon at any time.
          if (request.url.startsWith(serviceUnderTest().API_URL)) {
            requests.push(request.method);
          }
        },
      );

      const call = (body: unknown, headers: Record<string, string>) =>
        tab.evaluate(
          async ([url, body, headers]) => {
            const response = await fetch(url, {
              method: "POST",
              headers,
              body,
            });
            return [response.status, await response.json()];
          },
          [
            serviceUnderTest().API_URL + FUNCTION_PATH,
            JSON.stringify(body),
            headers,
          ] as const,
        );
      const json = { "Content-Type": "application/json" };
      const project_id = project.id;

      await context.step("200, after a preflight", async () => {
        assertEquals(
          await call({ username: "Zoë#4821", project_id }, json),
          [ACTIVE.status, ACTIVE.body],
        );
        assertEquals(requests.toSorted(), ["OPTIONS", "POST"]);
      });
      await context.step(
        "200, and the preflight's answer is kept",
        async () => {
          requests.length = 0;
          assertEquals(
            await call({ username: "Zoë#4821", project_id }, json),
            [ACTIVE.status, ACTIVE.body],
          );
          assertEquals(requests, ["POST"]);
        },
      );
      await context.step("200, without a preflight", async () => {
        requests.length = 0;
        assertEquals(
          await call({ username: "Zoë#4821", project_id }, {}),
          [ACTIVE.status, ACTIVE.body],
        );
        assertEquals(requests, ["POST"]);
      });
      await context.step("200, with the headers of supabase-js", async () => {
        const headers = {
          ...json,
          Authorization: "Bearer x",
          apikey: "x",
          "X-Client-Info": "x",
        };
        assertEquals(
          await call({ username: "Zoë#4821", project_id }, headers),
          [ACTIVE.status, ACTIVE.body],
        );
      });
      await context.step("499", async () => {
        assertEquals(
          await call({ username: "zoë#4821", project_id }, json),
          [NOT_FOUND.status, NOT_FOUND.body],
        );
      });
      await context.step("400", async () => {
        assertEquals(
          await call({ username: "Zoë#4821" }, json),
          [MISSING.status, MISSING.body],
        );
      });
      await context.step("the panel's code of the README", async () => {
        const code = (await codeBlock("README.md", "js", "checkActive"))
          .replaceAll(LOCAL_SERVICE.API_URL, serviceUnderTest().API_URL)
          .replace(/(PROJECT_ID = )"[^"]+"/, `$1"${project_id}"`);
        for (
          const [user, answer] of [["Zoë#4821", "active"], ["x", "inactive"]]
        ) {
          assertEquals(
            await tab.evaluate(
              `{ ${code} checkActive(${JSON.stringify(user)}) }`,
            ),
            answer,
          );
        }
      });
    } finally {
      await browser.close();
    }
  },
});
