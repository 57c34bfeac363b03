/** panel.js and the function together, in exact time, while the Data API is out of order. */
import { assert, assertEquals } from "@std/assert";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { stopTime } from "../support/exact_time.ts";
import { readExample } from "../support/pages.ts";
import { runPanel } from "./examples/add_ons.ts";

/** What each user's panel does. Amelia and Bessie have a key. Amelia and Dora had a 200 last week. */
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
  const startMs = performance.now();
  const now = () => performance.now() - startMs;
  using stack = new DisposableStack();
  stack.adopt(globalThis.fetch, (fetch) => globalThis.fetch = fetch);
  globalThis.fetch = (url, { signal = null } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      const respond = (body: unknown, status: number) =>
        resolve(Response.json(body, { status }));
      if (now() < 7_000) return; // Silence.
      if (now() < 14_000) return respond({ code: "PGRST002" }, 503);
      if (now() < 20_000) return reject(new TypeError("Connection dropped"));
      const { project_id } = SEEDED;
      const hasKey = /=eq\.(Amelia|Bessie)\b/.test(`${url}`);
      respond(hasKey ? [{ project_id }] : [], 200);
    });

  const start = ([name, expected]: [string, string[]]) => {
    const startedAt = now();
    let entry = expected[0] === "unlock" ? `400000 ${name}` : "";
    const calls: string[] = [];
    let askedAfter = 0;
    const send = async (body: string, respond: (status: number) => void) => {
      if (now() >= 20_000) askedAfter++;
      const request = new Request("http://a", { method: "POST", body });
      respond((await edgeFunction.fetch(request)).status);
    };
    const panel = runPanel(code, send, {
      GetStoredData: () => entry,
      SetStoredData: (_: string, text: string) => entry = text,
    });
    const call = (what: string) => {
      // Whoever has a recent 200 is unlocked at once.
      if (calls.length === 0 && entry) assertEquals(now(), startedAt);
      if (calls.at(-1) !== what) calls.push(what);
    };
    panel.keepAsking(name, () => call("unlock"), (why) => call(`lock ${why}`));
    return () => {
      assertEquals(calls, expected, name);
      const isActive = expected.at(-1) === "unlock";
      assertEquals(panel.storedName(), isActive ? name : undefined);
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
