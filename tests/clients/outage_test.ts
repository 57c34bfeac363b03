/** panel.js and the function together, in exact time, while the Data API is out of order. */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setImmediate } from "node:timers/promises";
import { FUNCTION_FOLDER, SEEDED } from "../../tools/project.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PANEL, play, startProgram } from "./scenarios.ts";

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
  await using folder = await makeTempFolder();
  const cwd = fileURLToPath(folder.url);
  const clock = FakeTimers.install({
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  let beganAt = 0; // When the outage began.
  globalThis.fetch = async (...args) => {
    const { signal, url } = new Request(...args);
    const ms = clock.now - beganAt;
    if (ms < 7_000) await once(signal, "abort"); // Silence.
    signal.throwIfAborted();
    const isRefused = ms < 14_000;
    if (isRefused) return Response.json({ code: "PGRST002" }, { status: 503 });
    if (ms < 20_000) throw new TypeError("Connection dropped");
    const hasKey = /=eq\.(Amelia|Bessie)\b/.test(url);
    return Response.json(hasKey ? [{ project_id: SEEDED.project_id }] : []);
  };

  for (const startS of [0, 6, 12]) {
    for (const [name, expected] of Object.entries(USERS)) {
      beganAt = clock.now - startS * 1_000;
      const startedAt = clock.now;
      const respond = async (username: string, second: number) => {
        clock.tick(startedAt + second * 1_000 - clock.now);
        const body = JSON.stringify({ ...SEEDED, username });
        const request = new Request("http://a", { method: "POST", body });
        let status = 0;
        edgeFunction.fetch(request).then((it: Response) => status = it.status);
        for (await setImmediate(); status === 0; await setImmediate()) {
          clock.next();
        }
        const ms = clock.now - startedAt - second * 1_000;
        return [`${status}`, ms / 1_000] as [string, number];
      };
      using panel = await startProgram(PANEL, cwd);
      const stored = expected.startsWith("unlock") ? `1999999 ${name}` : "";
      const steps = [`0 stored ${stored}; ask ${name}`, "120"];
      const played = await play(panel, `${cwd}/panel.txt`, steps, respond);
      const calls = played.join().match(/unlock|lock [a-z ]+/g) ?? [];
      const changes = calls.filter((call, nth) => call !== calls[nth - 1]);
      assertEquals(changes.join(", "), expected, `${name} at ${startS} s`);
    }
  }
  clock.uninstall();
});
