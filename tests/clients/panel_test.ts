/** panel.js in exact time: in random scenarios, and with the function in an outage. */
import FakeTimers from "@sinonjs/fake-timers";
import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PANEL, play, startProgram } from "./scenarios.ts";

const folder = await makeTempFolder();
Deno.test.afterAll(() => folder[Symbol.asyncDispose]());
const cwd = fileURLToPath(folder.url);

const EVENTS = "ask Amelia,ask Bessie,stop,clock -86500,clock 60,clock 1123200,"
  .concat("service 200,service 400,service 499,service off,service silent,")
  .concat("answer 200,answer 400,answer 499,answer 500").split(",");
const STEPS = fc.array(
  fc.tuple(fc.constantFrom(1, 4, 11, 400), fc.constantFrom(...EVENTS)),
);

Deno.test("clients: panel.js serves the name that was asked last, and no other", async () => {
  using panel = await startProgram(PANEL, cwd);
  const property = fc.asyncProperty(STEPS, async (steps) => {
    let second = 0.5;
    const lines = steps.map(([pause, event]) => `${second += pause} ${event}`);
    lines.unshift("0 stop; stored 1999999 Amelia; service 200");
    let user = "";
    let stored = "1999999 Amelia";
    for (const line of await play(panel, `${cwd}/panel.txt`, lines)) {
      const [happened = "", did = ""] = line.split(" -> ");
      if (happened.includes(" stop")) user = "";
      user = / ask (.*)/.exec(happened)?.[1] ?? user;
      for (const call of did.split("; ").filter(Boolean)) {
        const [what = "", entry = stored] = call.split(": ");
        // What is stored changes only with a 200 or a 499 for the user.
        const isOwn = entry.endsWith(` ${user}`) || stored.endsWith(` ${user}`);
        const isRight = {
          [`asks ${user}`]: true,
          "unlock": entry.endsWith(` ${user}`),
          "lock inactive": !entry.endsWith(` ${user}`),
        }[what] ?? what.startsWith("lock ");
        assert(user && isRight && (entry === stored || isOwn), line);
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
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  let outageAt = 0;
  globalThis.fetch = async (...args) => {
    const { signal, url } = new Request(...args);
    const ms = clock.now - outageAt;
    if (ms < 7_000) await once(signal, "abort"); // Silence.
    signal.throwIfAborted();
    if (ms < 20_000) throw new TypeError("Connection dropped");
    const hasKey = /=eq\.(Amelia|Bessie)\b/.test(url);
    return Response.json(hasKey ? [{ project_id: SEEDED.project_id }] : []);
  };

  for (const startMs of [0, 6_000, 12_000]) {
    for (const [username, expected] of Object.entries(USERS)) {
      const startedAt = clock.now;
      outageAt = startedAt - startMs;
      /** Asks the function in a second. Returns the status, and how many seconds it took. */
      const ask = async (second: number): Promise<[string, number]> => {
        const askedAt = startedAt + second * 1_000;
        clock.tick(askedAt - clock.now);
        const body = JSON.stringify({ ...SEEDED, username });
        const request = new Request("http://a", { method: "POST", body });
        let status = 0;
        edgeFunction.fetch(request).then((it: Response) => status = it.status);
        for (await setImmediate(); !status; await setImmediate()) clock.next();
        return [`${status}`, (clock.now - askedAt) / 1_000];
      };
      using panel = await startProgram(PANEL, cwd);
      const entry = expected.startsWith("unlock") ? `1999999 ${username}` : "";
      const steps = [`0 stored ${entry}; ask ${username}`, "120"];
      const played = await play(panel, `${cwd}/panel.txt`, steps, ask);
      const calls = played.join().match(/unlock|lock [a-z ]+/g) ?? [];
      const changes = calls.filter((call, nth) => call !== calls[nth - 1]);
      assertEquals(changes.join(", "), expected, `${username}, ${startMs} ms`);
    }
  }
  clock.uninstall();
});
