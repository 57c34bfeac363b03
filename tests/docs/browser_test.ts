/** A page of another origin, in a real browser, as an in-game HTML panel is one. */
import { assertEquals } from "@std/assert";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_PATH } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { ACTIVE, type Answer, MISSING, NOT_FOUND } from "../support/answers.ts";
import { browserTest as test } from "../support/browser.ts";
import { issueKeys } from "../support/issue_keys.ts";
import { panelCode } from "../support/callers.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

const USER = "Zoë#4821";
const JSON_TYPE = { "Content-Type": "application/json" };
const ALL_HEADERS = {
  ...JSON_TYPE,
  Authorization: "Bearer x",
  apikey: "x",
  "X-Client-Info": "x",
};

/** What the page sends, what it gets, and the methods that the browser uses for it. */
const ROWS: [
  name: string,
  body: { username?: string },
  headers: Record<string, string>,
  answer: Answer,
  methods?: string[],
][] = [
  ["after a preflight", { username: USER }, JSON_TYPE, ACTIVE, [
    "OPTIONS",
    "POST",
  ]],
  ["the preflight is kept", { username: USER }, JSON_TYPE, ACTIVE, ["POST"]],
  ["without a preflight", { username: USER }, {}, ACTIVE, ["POST"]],
  ["with the headers of supabase-js", { username: USER }, ALL_HEADERS, ACTIVE],
  ["another user", { username: "zoë#4821" }, JSON_TYPE, NOT_FOUND],
  ["no user", {}, JSON_TYPE, MISSING],
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

  for (const [name, fields, headers, answer, expected] of ROWS) {
    await step(`${answer.status}, ${name}`, async () => {
      methods.length = 0;
      const body = JSON.stringify({ ...fields, project_id: project.id });
      const response = await tab.evaluate(
        async ([url, body, headers]) => {
          const response = await fetch(url, {
            method: "POST",
            headers,
            body,
          });
          return [response.status, await response.json()];
        },
        [API_URL + FUNCTION_PATH, body, headers] as const,
      );
      assertEquals(response, [answer.status, answer.body]);
      if (expected) assertEquals(methods.toSorted(), expected);
    });
  }

  await step("the panel's code of the page for callers", async () => {
    const code = (await panelCode())
      .replaceAll(LOCAL_SERVICE.API_URL, API_URL)
      .replace(/(PROJECT_ID = )"[^"]+"/, `$1"${project.id}"`);
    for (const [user, result] of [[USER, "active"], ["x", "inactive"]]) {
      const call = `{ ${code} checkActive(${JSON.stringify(user)}) }`;
      assertEquals(await tab.evaluate(call), result);
    }
  });
});
