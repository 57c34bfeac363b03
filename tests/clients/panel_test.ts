/** `clients/panel.js` in exact time, rule by rule. The rules are in `clients/README.md`. */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { CHECK_PATH, SEEDED } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";

const CODE = await readPage("clients/panel.js");
const SERVICE = "https://<ref>.supabase.co" + CHECK_PATH;
/** When a panel starts, in seconds since 1970. */
const NOW = 2_000_000;
const DAY = 86_400;
const LOCKED = "ask, log 503, lock no answer";
const UNLOCKED = "unlock, ask, log 503, unlock";
const STORED = `store ${NOW} Amelia`;
const CLEARED = "store , lock inactive";
const toFake = ["Date", "setTimeout", "clearTimeout"] as const;
const time = FakeTimers.install({ now: NOW * 1_000, toFake: [...toFake] });

/** Whose 200 is stored, and its age in seconds; the status about Amelia; what the panel does. */
const ROWS: [string, name: string, ageS: number, number, seen: string][] = [
  ["2: another's 200 unlocks nobody", "Bessie", 0, 503, LOCKED],
  ["2: another's 499 clears nothing", "Bessie", 0, 499, "ask, lock inactive"],
  ["3: a 200 is stored, then unlocks", "", 0, 200, `ask, ${STORED}, unlock`],
  ["3: a 499 clears, then locks", "Amelia", 0, 499, `unlock, ask, ${CLEARED}`],
  ["3: valid under 14 days", "Amelia", 14 * DAY - 1, 503, UNLOCKED],
  ["3: invalid after 14 days", "Amelia", 14 * DAY, 503, LOCKED],
  ["3: valid a day ahead", "Amelia", -DAY, 503, UNLOCKED],
  ["3: invalid a second more ahead", "Amelia", -DAY - 1, 503, LOCKED],
  ["5: an entry without a time is empty", "Amelia", NaN, 503, LOCKED],
];

for (const [what, name, ageS, status, expected] of ROWS) {
  Deno.test(`panel: rule ${what}`, async () => {
    const panel = startPanel({ stored: `${NOW - ageS} ${name}` });
    panel.ask("Amelia");
    await panel.respond(status);
    assertEquals(panel.saw(), expected);
    await panel.pass(3_600);
    assertEquals(panel.saw().includes("ask"), status === 503, "asks again");
  });
}

Deno.test("panel: rule 1: asking anew, or stopping, ends what pauses or waits", async () => {
  const panel = startPanel();
  panel.ask("Amelia");
  await panel.respond(503);
  panel.ask("Bessie");
  panel.ask("Charles");
  await panel.respond(200, 1); // Bessie's.
  panel.stopAsking();
  await panel.respond(200);
  await panel.pass(3_600);
  assertEquals(panel.saw(), `${LOCKED}, ask, ask`);
});

/** Pauses, in seconds, with this random number. */
const PAUSES: [random: number, pauses: number[]][] = [
  [0, [2.5, 5, 10]],
  [0.5, [5, 10, 20, 40, 80, 160, 320, 600, 600]],
];

for (const [random, pauses] of PAUSES) {
  Deno.test(`panel: rule 3: asked again after ${pauses} s`, async () => {
    const panel = startPanel({ random });
    panel.ask("Amelia");
    for (const pause of pauses) {
      await panel.respond(0);
      await panel.pass(pause - 0.1);
      panel.saw();
      await panel.pass(0.1);
      assertEquals(panel.saw(), "ask", `after ${pause} s`);
    }
  });
}

Deno.test("panel: rule 4: silence ends after 10 s, and a status that is there counts", async () => {
  const panel = startPanel();
  panel.ask("Amelia");
  await panel.pass(9.9);
  assertEquals(panel.saw(), "ask");
  await panel.pass(5.2);
  assertEquals(panel.saw(), "log no response, lock no answer, ask");
  await panel.respond(200, -1, 1); // Its event waits behind the timer.
  await panel.pass(10);
  assertEquals(panel.saw(), `store ${NOW + 25} Amelia, unlock`);
});

Deno.test("panel: rule 5: a storage that throws stops nothing", async () => {
  const panel = startPanel({ hasStorage: false });
  panel.ask("Amelia");
  await panel.respond(200);
  assertEquals(panel.saw(), "ask, unlock");
});

Deno.test("panel: rule 6: each status but 200 and 499 is logged, once an asking", async () => {
  const panel = startPanel();
  panel.ask("Amelia");
  await panel.respond(400);
  await panel.pass(5);
  await panel.respond(400);
  await panel.pass(10);
  await panel.respond(201);
  assertEquals(panel.saw().match(/log \d+/g), ["log 400", "log 201"]);
});

/** Loads the panel into an engine, with a service that responds when it is told. */
function startPanel({ stored = "", random = 0.5, hasStorage = true } = {}) {
  time.reset();
  let asked = "";
  const seen: string[] = [];
  const requests: XMLHttpRequest[] = [];
  class XMLHttpRequest {
    onreadystatechange = () => {};
    abort() {}
    change(readyState: number, status: number) {
      Object.assign(this, { readyState, status });
      this.onreadystatechange?.();
    }
    open(method: string, url: string) {
      assertEquals([method, url], ["POST", SERVICE]);
      this.change(1, 0);
    }
    send(body: string) {
      const { project_id } = SEEDED;
      assertEquals(JSON.parse(body), { username: asked, project_id });
      seen.push("ask");
      requests.push(this);
    }
  }
  const log = (text: string) => seen.push(text.replace(/.*: /, "log "));
  const store = (_key: string, text: string) => seen.push(`store ${text}`);
  const storage = { GetStoredData: () => stored, SetStoredData: store };
  const engine = {
    XMLHttpRequest,
    console: { error: log },
    Math: { __proto__: Math, random: () => random },
    ...(hasStorage && storage), // Otherwise, using it throws.
  };
  const load = new Function(...Object.keys(engine), `${CODE}return activation`);
  const { keepAsking, stopAsking } = load(...Object.values(engine));
  const unlock = () => seen.push("unlock");
  const lock = (result: string) => seen.push(`lock ${result}`);
  return {
    stopAsking,
    ask: (name: string) => keepAsking(asked = name, unlock, lock),
    /** Responds to the last question, or to the nth. The body never comes. */
    respond(status: number, nth = -1, readyState = 2) {
      requests.at(nth)?.change(readyState, status);
      return time.tickAsync(0);
    },
    pass: (seconds: number) => time.tickAsync(1_000 * seconds),
    /** What has happened since the last call. */
    saw: () => seen.splice(0).join(", "),
  };
}
