/** panel.js and the function together, in exact time, while the Data API is out of order. */
import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { stopTime } from "../support/exact_time.ts";
import { readExample } from "../support/pages.ts";
import { runPanel } from "./examples/add_ons.ts";

/** What each user's panel does. Amelia and Bessie have a key; Amelia and Dora had a 200 before. */
const USERS = {
  Amelia: ["unlock"],
  Bessie: ["lock no answer", "unlock"],
  Chloe: ["lock no answer", "lock inactive"],
  Dora: ["unlock", "lock inactive"],
};

Deno.test("examples: users of panel.js in an outage of 20 s", async () => {
  const env = Object.entries(platformEnv(LOCAL_SERVICE));
  for (const variable of env) Deno.env.set(...variable);
  const { default: edgeFunction } = await import(`${FUNCTION_FOLDER}index.ts`);
  const code = (await readExample("panel.js")).replace("<ref>", "example");
  using time = stopTime();
  time.setWallClock(1e9);
  const now = () => Date.now() - 1e9;
  // No other test of this file needs the real one.
  globalThis.fetch = async (...args) => {
    const { signal, url } = new Request(...args);
    if (now() < 7_000) await once(signal, "abort"); // Silence.
    signal.throwIfAborted();
    const isRefused = now() < 14_000;
    if (isRefused) return Response.json({ code: "PGRST002" }, { status: 503 });
    if (now() < 20_000) throw new TypeError("Connection dropped");
    const hasKey = /=eq\.(Amelia|Bessie)\b/.test(url);
    return Response.json(hasKey ? [{ project_id: SEEDED.project_id }] : []);
  };

  const start = ([name, expected]: [string, string[]]) => {
    let entry = expected[0] === "unlock" ? `400000 ${name}` : "";
    const calls: string[] = [];
    let askedAfter = 0;
    const panel = runPanel(code, async (body, respond) => {
      if (now() >= 20_000) askedAfter++;
      const request = new Request("http://a", { method: "POST", body });
      respond((await edgeFunction.fetch(request)).status);
    }, {
      GetStoredData: () => entry,
      SetStoredData: (_: string, text: string) => entry = text,
    });
    const call = (what: string) => {
      if (calls.at(-1) !== what) calls.push(what);
    };
    panel.keepAsking(name, () => call("unlock"), (why) => call(`lock ${why}`));
    return () => {
      assertEquals(calls, expected, name);
      // The first question after the outage decides, if not one that has waited for its end.
      assert(askedAfter <= 1, name);
    };
  };

  const checks: (() => void)[] = [];
  for (let starts = 0; starts < 4; starts++) {
    checks.push(...Object.entries(USERS).map(start));
    await time.pass(4_000);
  }
  await time.pass(120_000);
  checks.forEach((check) => check());
});
