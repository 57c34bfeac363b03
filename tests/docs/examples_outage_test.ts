/** panel.js and the function together, in exact time, while the Data API is out of order. */
import { assert, assertEquals } from "@std/assert";
import { FUNCTION_FOLDER, FUNCTION_PATH, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { stopTime } from "../support/exact_time.ts";
import { readExample } from "../support/pages.ts";
import { runPanel } from "./examples/add_ons.ts";

const OUTAGE_MS = 20_000;

/** Amelia and Bessie have a key. Last week, Amelia and Dora had a 200. Each calls one of these. */
const EXPECTED = {
  Amelia: ["unlock"],
  Bessie: ["lock no answer", "unlock"],
  Chloe: ["lock no answer", "lock inactive"],
  Dora: ["unlock", "lock inactive"],
};

Deno.test("examples: users of panel.js through an outage of 20 s", async () => {
  for (const [name, value] of Object.entries(platformEnv(LOCAL_SERVICE))) {
    Deno.env.set(name, value);
  }
  const { fetch, console } = globalThis;
  using time = stopTime();
  using _real = {
    [Symbol.dispose]: () => Object.assign(globalThis, { fetch, console }),
  };
  time.setWallClock(1_000_000 * 1_000);
  const startMs = performance.now();
  const now = () => performance.now() - startMs;

  globalThis.fetch = (input, init) =>
    new Promise((resolve, reject) => {
      const hasKey = /=eq\.(Amelia|Bessie)\b/.test(`${input}`);
      const failed = { code: "PGRST002", message: "", details: null, hint: "" };
      const { signal } = init ?? {};
      signal?.addEventListener("abort", () => reject(signal.reason));
      if (now() < 7_000) return; // It is silent.
      if (now() < 14_000) resolve(Response.json(failed, { status: 503 }));
      if (now() < OUTAGE_MS) reject(new TypeError("Connection dropped"));
      const { project_id } = SEEDED;
      resolve(Response.json(hasKey ? [{ project_id }] : []));
    });
  const { default: edgeFunction } = await import(`${FUNCTION_FOLDER}index.ts`);
  const code = (await readExample("panel.js")).replace("<ref>", "example");

  /** Starts a user's panel. Returns what it does. */
  const start = (name: string) => {
    const startedMs = now();
    let entry = ["Amelia", "Dora"].includes(name) ? `400000 ${name}` : "";
    const calls: string[] = [];
    let askedAfter = 0;
    class XMLHttpRequest {
      readyState = 0;
      status = 0;
      onreadystatechange?: () => void;
      open() {}
      abort() {}
      async send(body: string) {
        if (now() >= OUTAGE_MS) askedAfter++;
        const request = new Request(`http://a${FUNCTION_PATH}`, {
          method: "POST",
          body,
        });
        this.status = (await edgeFunction.fetch(request)).status;
        this.readyState = 2;
        this.onreadystatechange?.();
      }
    }
    const panel = runPanel(code, {
      XMLHttpRequest,
      GetStoredData: () => entry,
      SetStoredData: (_: string, text: string) => entry = text,
    });
    const call = (what: string) => {
      // Whoever has a recent 200 is unlocked at once.
      if (calls.length === 0 && entry) assertEquals(now(), startedMs);
      if (calls.at(-1) !== what) calls.push(what);
    };
    panel.keepAsking(name, () => call("unlock"), (why) => call(`lock ${why}`));
    return { name, calls, askedAfter: () => askedAfter, entry: () => entry };
  };

  const users = [];
  for (let startS = 0; startS < 16; startS += 4) {
    users.push(...Object.keys(EXPECTED).map(start));
    await time.pass(4_000);
  }
  await time.pass(120_000);
  for (const { name, calls, askedAfter, entry } of users) {
    assertEquals(calls, EXPECTED[name as keyof typeof EXPECTED], name);
    // The first question after the outage decides, unless one before it has waited for its end.
    assert(askedAfter() <= 1, name);
    assert(entry() === "" || entry().endsWith(` ${name}`));
  }
});
