/**
 * `examples/add-on/panel.js`, which asks the service from a panel of the simulator. The rules in
 * the titles are those of README.md, beside it.
 */
import { assertEquals } from "@std/assert";
import { load, type Simulator } from "../support/simulator.ts";

const DAY_S = 86_400;

/** The panel asks about Amelia in this simulator, and gets a response that ends the asking. */
const RULES: { title: string; simulator: Simulator; status: number; happens: string[] }[] = [
  {
    title: "rule 2: another name's 200 unlocks nobody, and a 499 does not clear it",
    simulator: { stored: { name: "Bessie", ageS: 0 } },
    status: 499,
    happens: ["asks about Amelia", "locks: inactive"],
  },
  {
    title: "rule 3: a 200 is stored, then it unlocks",
    simulator: {},
    status: 200,
    happens: ["asks about Amelia", "stores 2000000 Amelia", "unlocks"],
  },
  {
    title: "rule 3: a 200 after a stored one is stored, and does not unlock twice",
    simulator: { stored: { name: "Amelia", ageS: 0 } },
    status: 200,
    happens: ["unlocks", "asks about Amelia", "stores 2000000 Amelia"],
  },
  {
    title: "rule 3: a 499 clears the entry of this name, then it locks",
    simulator: { stored: { name: "Amelia", ageS: 0 } },
    status: 499,
    happens: ["unlocks", "asks about Amelia", "clears the entry", "locks: inactive"],
  },
  {
    title: "rule 5: a storage that is missing stops nothing",
    simulator: { hasStorage: false },
    status: 200,
    happens: ["asks about Amelia", "unlocks"],
  },
  {
    title: "rule 5: where a write fails, a 499 locks although the old entry stays",
    simulator: { canWrite: false, stored: { name: "Amelia", ageS: 0 } },
    status: 499,
    happens: ["unlocks", "asks about Amelia", "locks: inactive"],
  },
];

for (const { title, simulator, status, happens } of RULES) {
  Deno.test(`panel.js: ${title}`, async () => {
    const panel = load(simulator);
    panel.ask("Amelia");
    await panel.respond(status);
    await panel.pass(3_600); // It does not ask again.
    assertEquals(panel.happened(), happens);
  });
}

/** Whether Amelia's stored 200 of this age counts while the service sends 503. */
const VALIDITY = [
  { when: "a second before 14 days are over", ageS: 14 * DAY_S - 1, counts: true },
  { when: "after 14 days", ageS: 14 * DAY_S, counts: false },
  { when: "a day in the future", ageS: -DAY_S, counts: true },
  { when: "a day and a second in the future", ageS: -DAY_S - 1, counts: false },
];

for (const { when, ageS, counts } of VALIDITY) {
  Deno.test(`panel.js: rule 3: ${when}, a stored 200 ${counts ? "counts" : "does not count"}`, async () => {
    const panel = load({ stored: { name: "Amelia", ageS } });
    panel.ask("Amelia");
    await panel.respond(503);
    // A 200 that counts unlocks before the question is sent, and the 503 changes nothing.
    const happens = counts
      ? ["unlocks", "asks about Amelia", "logs 503"]
      : ["asks about Amelia", "logs 503", "locks: no answer"];
    assertEquals(panel.happened(), happens);
  });
}

Deno.test("panel.js: rule 3: a stored 200 that runs out between two questions locks once", async () => {
  const panel = load({ stored: { name: "Amelia", ageS: 14 * DAY_S - 1 } });
  panel.ask("Amelia");
  for (const pauseS of [5, 10, 20]) {
    await panel.respond(503);
    await panel.pass(pauseS);
  }
  const happened = panel.happened().filter((event) => /locks/.test(event));
  assertEquals(happened, ["unlocks", "locks: no answer"]);
});

// A storage may keep ASCII alone. The name has an e with a diaeresis as two code points.
Deno.test("panel.js: rule 2: a name with blanks around it and outside ASCII is sent as it is, and stored in ASCII", async () => {
  const name = " Zoe\u0308 小雪 ";
  const panel = load();
  panel.ask(name);
  await panel.respond(200);
  panel.ask(name);
  assertEquals(panel.happened(), [
    `asks about ${name}`,
    "stores 2000000 %20Zoe%CC%88%20%E5%B0%8F%E9%9B%AA%20",
    "unlocks",
    "unlocks",
    `asks about ${name}`,
  ]);
});

// The engine would send U+FFFD for it, and so two names could become one.
Deno.test("panel.js: it asks nothing about a name with a lone surrogate, logs why, and locks", async () => {
  const panel = load();
  panel.ask("a\ud83d");
  await panel.pass(1);
  assertEquals(panel.happened(), ["logs URI malformed", "locks: no answer"]);
});

// Amelia's asking is in a pause, and the response about Bessie comes late.
Deno.test("panel.js: rule 1: a new asking ends those about Amelia and Bessie", async () => {
  const panel = load();
  panel.ask("Amelia");
  await panel.respond(503);
  panel.ask("Bessie");
  panel.ask("Charles");
  panel.happened();
  await panel.respond(200, { request: 1 }); // Bessie's.
  await panel.pass(9); // Amelia's pause would end after 5 s, and Charles's question has 10 s.
  assertEquals(panel.happened(), []);
});

/**
 * The pauses between questions, in seconds, when `Math.random` always returns this number: 5 s,
 * then twice as long each time, up to 600 s, and each one times 0.5 plus that number.
 */
const PAUSES = [
  { random: 0, pausesS: [2.5, 5, 10] },
  { random: 0.5, pausesS: [5, 10, 20, 40, 80, 160, 320, 600, 600] },
];

for (const { random, pausesS } of PAUSES) {
  Deno.test(`panel.js: rule 3: if Math.random returns ${random}, it asks again after ${pausesS} s`, async () => {
    const panel = load({ random });
    panel.ask("Amelia");
    for (const pauseS of pausesS) {
      await panel.respond(0);
      await panel.pass(pauseS - 0.1);
      panel.happened();
      await panel.pass(0.1);
      assertEquals(panel.happened(), ["asks about Amelia"], `after ${pauseS} s`);
    }
  });
}

Deno.test("panel.js: rule 4: after 10 s of silence, it gives the request up, and locks", async () => {
  const panel = load();
  panel.ask("Amelia");
  await panel.pass(9.9);
  assertEquals(panel.happened(), ["asks about Amelia"]);
  assertEquals(panel.openRequests(), 1);
  await panel.pass(0.2);
  assertEquals(panel.happened(), ["logs no response", "locks: no answer"]);
  assertEquals(panel.openRequests(), 0);
});

Deno.test("panel.js: rule 4: a status that is there when time is up counts", async () => {
  const panel = load();
  panel.ask("Amelia");
  panel.happened();
  // The simulator stood still: the status is there, but `readyState` 2, which would tell panel.js
  // so, has not been announced yet.
  await panel.respond(200, { readyState: 1 });
  await panel.pass(10);
  assertEquals(panel.happened(), ["stores 2000010 Amelia", "unlocks"]);
});

Deno.test("panel.js: rule 6: a status other than 200 and 499 is logged, a repeated one only once", async () => {
  const panel = load();
  panel.ask("Amelia");
  await panel.respond(400);
  await panel.pass(5);
  await panel.respond(400);
  await panel.pass(10);
  await panel.respond(201);
  const logged = panel.happened().filter((event) => event.startsWith("logs"));
  assertEquals(logged, ["logs 400", "logs 201"]);
});
