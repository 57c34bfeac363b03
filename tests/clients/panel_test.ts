/** panel.js: in random scenarios, and with the function in an outage, in exact time. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { loadPanel, startPanel } from "./drivers/panel.js";
import { play } from "./scenarios.ts";

const EVENTS = "ask Amelia,ask Bessie,stop,clock -86500,clock 60,clock 1123200,"
  .concat("service 200,service 400,service 499,service off,service silent,")
  .concat("answer 200,answer 400,answer 499,answer 500").split(",");
const STEPS = fc.array(
  fc.tuple(fc.constantFrom(1, 4, 11, 400), fc.constantFrom(...EVENTS)),
);

Deno.test("clients: panel.js serves the name that was asked last, and no other", async () => {
  await using folder = await makeTempFolder();
  const file = fileURLToPath(new URL("panel.txt", folder.url));
  const property = fc.asyncProperty(STEPS, async (steps) => {
    let second = 0.5;
    const lines = steps.map(([pause, event]) => `${second += pause} ${event}`);
    lines.unshift("0 stored 1999999 Amelia");
    let user = "";
    let stored = "1999999 Amelia";
    for (const line of await play(startPanel(file), file, lines)) {
      const [happened = "", did = ""] = line.split(" -> ");
      if (happened.includes(" stop")) user = "";
      user = / ask (.*)/.exec(happened)?.[1] ?? user;
      for (const call of did.split("; ").filter(Boolean)) {
        const [what = "", entry = stored] = call.split(": ");
        // What is stored changes only with a 200 or a 499 for the user.
        const isOwn = entry.endsWith(` ${user}`) || stored.endsWith(` ${user}`);
        assert(user && (entry === stored || isOwn), line);
        if (what.startsWith("asks")) assertEquals(what, `asks ${user}`, line);
        // An unlock needs the user's entry, and a 499 leaves none.
        if (what === "unlock") assert(entry.endsWith(` ${user}`), line);
        if (what === "lock inactive") assert(!entry.endsWith(` ${user}`), line);
        stored = entry;
      }
    }
  });
  await fc.assert(property, { numRuns: 300 });
});

/** What each user's panel does. Amelia and Bessie have a key; Amelia and Dora had a 200 before. */
const USERS = {
  Amelia: "unlock",
  Bessie: "lock no answer, unlock",
  Chloe: "lock no answer, lock inactive",
  Dora: "unlock, lock inactive",
};

Deno.test("clients: users of panel.js in an outage of 20 s", async () => {
  const env = Object.entries(platformEnv(LOCAL_SERVICE));
  for (const variable of env) Deno.env.set(...variable);
  const { default: edgeFunction } = await import(`${FUNCTION_FOLDER}index.ts`);
  const clock = FakeTimers.install({
    now: 2_000_000_000,
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  let backAt = 0;
  globalThis.fetch = (...args) => {
    if (clock.now < backAt) return Promise.reject(new TypeError("No network"));
    const hasKey = /=eq\.(Amelia|Bessie)\b/.test(new Request(...args).url);
    const rows = hasKey ? [{ project_id: SEEDED.project_id }] : [];
    return Promise.resolve(Response.json(rows));
  };

  for (const [username, expected] of Object.entries(USERS)) {
    backAt = clock.now + 20_000;
    const had200 = expected.startsWith("unlock");
    let entry = had200 ? `${clock.now / 1_000} ${username}` : "";
    const panel = loadPanel({
      GetStoredData: () => entry,
      SetStoredData: (_: string, text: string) => entry = text,
      async send(body: string, respond: (status: number) => void) {
        const request = new Request("http://a", { method: "POST", body });
        respond((await edgeFunction.fetch(request)).status);
      },
    });
    const calls: string[] = [];
    const call = (what: string) => {
      if (calls.at(-1) !== what) calls.push(what);
      return new Promise(() => {}); // Which the panel does not wait for.
    };
    const lock = (result: string) => call(`lock ${result}`);
    panel.keepAsking(username, () => call("unlock"), lock);
    await clock.tickAsync(120_000);
    assertEquals(calls.join(", "), expected, username);
  }
  clock.uninstall();
});
