/** panel.js: in random scenarios, and with the function in an outage, in exact time. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { runPanel } from "./drivers/panel.js";
import { play } from "./scenarios.ts";

// The clock goes back by a day and 100 s, or forward by 13 days.
const EVENTS = [
  ["ask Amelia", "ask Bessie", "stop", "clock -86500", "clock 1123200"],
  ["service 200", "service 400", "service 499", "service off"],
  ["service silent", "answer 200", "answer 400", "answer 499", "answer 500"],
].flat();
const STEP = fc.tuple(fc.constantFrom(1, 11, 400), fc.constantFrom(...EVENTS));

Deno.test("clients: panel.js serves the name that was asked last, and no other", async () => {
  const property = fc.asyncProperty(fc.array(STEP), async (steps) => {
    let second = 0;
    const lines = steps.map(([pause, event]) => `${second += pause} ${event}`);
    let user = "";
    for (const line of await play(runPanel, lines)) {
      const [happened = "", did = ""] = line.split(" -> ");
      if (happened.endsWith("stop")) user = "";
      user = happened.match(/ask (.*)/)?.[1] ?? user;
      assert(user || !did, line);
      // Names asked about or unlocked. "unlock: nothing" gives "nothing", nobody's name, and fails.
      const calls = did.matchAll(/(?:asks|unlock:(?: \d+)?) (\w+)/g);
      assert(calls.every(([, name]) => name === user), line);
      assert(!RegExp(`inactive: \\d+ ${user}`).test(did), line); // A 499 has cleared the entry.
    }
  });
  await fc.assert(property, { numRuns: 300 });
});

/** The Data API is back at second 20. Lookups at 0 and 9.4 fail after 4.4 s. The next: at 23.8. */
const OUTAGE = [
  "0 ask Bessie -> asks Bessie; lock no answer: nothing",
  "5 -> asks Bessie; lock no answer: nothing",
  "20 -> asks Bessie; unlock: 2000023 Bessie",
  "60",
];

Deno.test("clients: panel.js and the function in an outage, in exact time", async () => {
  const env = Object.entries(platformEnv(LOCAL_SERVICE));
  for (const variable of env) Deno.env.set(...variable);
  const { default: edgeFunction } = await import(`${FUNCTION_FOLDER}index.ts`);
  Math.random = () => 0.5; // The function's attempts vary by it.
  const serve = async (body: string) => {
    const request = new Request("http://a", { method: "POST", body });
    return (await edgeFunction.fetch(request)).status;
  };
  globalThis.fetch = () => {
    const isAway = Date.now() < 2_000_020_000;
    if (isAway) return Promise.reject(new TypeError("No network"));
    return Promise.resolve(Response.json([{ project_id: SEEDED.project_id }]));
  };
  const run = (events: string[]) => runPanel(events, serve);
  assertEquals(await play(run, OUTAGE), OUTAGE);
});
