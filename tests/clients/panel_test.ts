/**
 * `clients/panel.js`, and the code for a panel on `clients/README.md`, which calls it. Both run in
 * exact time, in a simulator whose storage, screens and requests are the test's. The rules are
 * those of the page. `happened` lists what the code has done since the last call of `happened`.
 */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { readBlocks, readPage } from "../support/pages.ts";

const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
const BACK_END = "https://<ref>.supabase.co/functions/v1/activate-key";
/** When each test begins, in seconds since 1970. */
const NOW_S = 2_000_000;
const DAY_S = 86_400;

/** A stored 200 for Amelia. */
const JUST_NOW = { name: "Amelia", ageS: 0 };

const PANEL = await readPage("clients/panel.js");
const [, ON_PAGE = ""] = await readBlocks("clients/README.md", "js");
const time = FakeTimers.install({
  now: NOW_S * 1_000,
  toFake: ["Date", "setTimeout", "clearTimeout"],
});

/**
 * The panel asks about Amelia and gets one response. `stored` is whose last 200 is stored, and how
 * many seconds ago it came.
 */
const RULES = [
  {
    title: "rule 2: a stored 200 of another name unlocks nobody",
    stored: { name: "Bessie", ageS: 0 },
    status: 503,
    happens: ["asks about Amelia", "logs 503", "locks: no answer"],
    asksAgain: true,
  },
  {
    title: "rule 2: a 499 for another name clears nothing",
    stored: { name: "Bessie", ageS: 0 },
    status: 499,
    happens: ["asks about Amelia", "locks: inactive"],
    asksAgain: false,
  },
  {
    title: "rule 3: a 200 is stored, then it unlocks",
    stored: null,
    status: 200,
    happens: ["asks about Amelia", "stores 2000000 Amelia", "unlocks"],
    asksAgain: false,
  },
  {
    title: "rule 3: a 499 clears the entry of this name, then it locks",
    stored: JUST_NOW,
    status: 499,
    happens: ["unlocks", "asks about Amelia", "clears the entry", "locks: inactive"],
    asksAgain: false,
  },
];

for (const { title, stored, status, happens, asksAgain } of RULES) {
  Deno.test(`panel.js: ${title}`, async () => {
    const panel = load({ stored });
    panel.ask("Amelia");
    await panel.respond(status);
    assertEquals(panel.happened(), happens);
    await panel.pass(3_600);
    assertEquals(panel.happened().includes("asks about Amelia"), asksAgain, "asks again");
  });
}

/** Whether Amelia's stored 200 of this age counts while the service sends 503. */
const VALIDITY = [
  { when: "rule 3: a second before 14 days are over", ageS: 14 * DAY_S - 1, counts: true },
  { when: "rule 3: after 14 days", ageS: 14 * DAY_S, counts: false },
  { when: "rule 3: a day in the future", ageS: -DAY_S, counts: true },
  { when: "rule 3: a day and a second in the future", ageS: -DAY_S - 1, counts: false },
  { when: "rule 5: with a time that is no number", ageS: NaN, counts: false },
];

for (const { when, ageS, counts } of VALIDITY) {
  Deno.test(`panel.js: ${when}, a stored 200 ${counts ? "counts" : "does not count"}`, async () => {
    const panel = load({ stored: { name: "Amelia", ageS } });
    panel.ask("Amelia");
    await panel.respond(503);
    const happens = counts
      ? ["unlocks", "asks about Amelia", "logs 503", "unlocks"]
      : ["asks about Amelia", "logs 503", "locks: no answer"];
    assertEquals(panel.happened(), happens);
  });
}

Deno.test("panel.js: rule 1: asking anew ends an asking that pauses or waits, and stopping ends one that waits", async () => {
  const panel = load();
  panel.ask("Amelia");
  await panel.respond(503); // Amelia's asking now pauses.
  panel.ask("Bessie");
  panel.ask("Charles");
  panel.happened();
  await panel.respond(200, { request: 1 }); // Bessie's, which has been replaced.
  panel.activation.stopAsking();
  await panel.respond(200); // Charles's, which has been stopped.
  await panel.pass(3_600);
  assertEquals(panel.happened(), []);
});

/** The pauses between questions, in seconds, when `Math.random` always returns this number. */
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
      const happens = ["asks about Amelia"];
      assertEquals(panel.happened(), happens, `after ${pauseS} s`);
    }
  });
}

Deno.test("panel.js: rule 4: after 10 s of silence, it locks", async () => {
  const panel = load();
  panel.ask("Amelia");
  await panel.pass(9.9);
  assertEquals(panel.happened(), ["asks about Amelia"]);
  await panel.pass(0.2);
  assertEquals(panel.happened(), ["logs no response", "locks: no answer"]);
});

Deno.test("panel.js: rule 4: a status that is there when time is up counts", async () => {
  const panel = load();
  panel.ask("Amelia");
  panel.happened();
  // The simulator stood still. So the status is there, but the simulator has not yet called back to
  // say so, which would be with `readyState` 2.
  await panel.respond(200, { readyState: 1 });
  await panel.pass(10);
  assertEquals(panel.happened(), ["stores 2000010 Amelia", "unlocks"]);
});

Deno.test("panel.js: rule 5: a storage that throws stops nothing", async () => {
  const panel = load({ hasStorage: false });
  panel.ask("Amelia");
  await panel.respond(200);
  assertEquals(panel.happened(), ["asks about Amelia", "unlocks"]);
});

Deno.test("panel.js: rule 6: each status but 200 and 499 is logged, once an asking", async () => {
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

/** What `activate` resolves to, and what it logs. Status 0: there is no response. */
const ACTIVATIONS = [
  { status: 200, result: "activated", logs: [] },
  { status: 400, result: "refused", logs: [] },
  { status: 409, result: "refused", logs: [] },
  { status: 422, result: "refused", logs: [] },
  { status: 404, result: "no answer", logs: ["logs 404"] },
  { status: 500, result: "no answer", logs: ["logs 500"] },
  { status: 0, result: "no answer", logs: ["logs no response"] },
];

for (const { status, result, logs } of ACTIVATIONS) {
  Deno.test(`panel.js: activate resolves to "${result}" after ${status || "no response"}, and stores nothing`, async () => {
    const panel = load();
    const activating = panel.activation.activate("Amelia", "a key");
    assertEquals(panel.happened(), ["sends a key for Amelia"]);
    await panel.respond(status);
    await panel.pass(3_600);
    assertEquals([await activating, ...panel.happened()], [result, ...logs]);
  });
}

// The code for a panel on the page.
const CHECKING = "message: Checking the key …";
const NO_NAME = "message: Enter your name and the key that you have bought.";
const INACTIVE = "message: There is no active key for this name. Are name and key right?";
const NO_ANSWER = "message: The key could not be checked yet. Are you online?";

Deno.test("clients/README.md: a result that comes while the form is open does not close it", async () => {
  const panel = load({ stored: JUST_NOW });
  const { openForm, closeForm } = panel.startPage();
  panel.happened();
  openForm();
  assertEquals(panel.happened(), ['shows the form with "Amelia"']);
  await panel.respond(499);
  await panel.pass(3_600);
  assertEquals(panel.happened(), []);
  // Closing the form asks about the stored name again. The add-on is shown because it was unlocked,
  // and once more because the stored 200 is valid.
  closeForm();
  assertEquals(panel.happened(), ["shows the add-on", "shows the add-on", "asks about Amelia"]);
});

Deno.test("clients/README.md: a lock that waits for the landing does not close the form", async () => {
  const panel = load({ stored: JUST_NOW, isFlying: true });
  const { openForm } = panel.startPage();
  await panel.respond(499);
  openForm();
  panel.happened();
  panel.land();
  await panel.pass(3_600);
  assertEquals(panel.happened(), []);
});

Deno.test("clients/README.md: a form that is opened at the start stays open, and closing it shows that a name is missing", async () => {
  const panel = load();
  const { openForm, closeForm } = panel.startPage();
  openForm();
  panel.happened();
  await panel.pass(3_600); // After 5 s, the page looks for a stored name once more.
  assertEquals(panel.happened(), []);
  closeForm();
  assertEquals(panel.happened(), [NO_NAME]);
});

Deno.test("clients/README.md: a second press sends no second key, and an activated key is checked", async () => {
  const panel = load({ typed: { name: "Amelia", key: "a key" } });
  const { openForm, sendForm } = panel.startPage();
  openForm();
  panel.happened();
  sendForm();
  sendForm();
  const sent = ["form text: Activating the key …", "sends a key for Amelia"];
  assertEquals(panel.happened(), sent);
  await panel.respond(200);
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia"]);
  await panel.respond(200);
  assertEquals(panel.happened(), ["stores 2000000 Amelia", "shows the add-on"]);
});

/** What the form says when the back end does not activate the key. Then a second try works. */
const NOT_ACTIVATED = [
  { status: 409, happens: ["form text: The key was refused. Is it typed right, and yours?"] },
  {
    status: 503,
    happens: ["logs 503", "form text: No answer. Are you online? Please send it again."],
  },
];

for (const { status, happens } of NOT_ACTIVATED) {
  Deno.test(`clients/README.md: after a ${status} for a key, the form stays open and says why`, async () => {
    const panel = load({ typed: { name: "Amelia", key: "a key" } });
    const { openForm, sendForm } = panel.startPage();
    openForm();
    sendForm();
    panel.happened();
    await panel.respond(status);
    await panel.pass(3_600);
    assertEquals(panel.happened(), happens);
    sendForm();
    await panel.respond(200);
    assertEquals(panel.happened().at(-1), "asks about Amelia");
  });
}

Deno.test("clients/README.md: a key that is activated after the form was closed closes no other form", async () => {
  const panel = load({ typed: { name: "Amelia", key: "a key" } });
  const { openForm, closeForm, sendForm } = panel.startPage();
  openForm();
  sendForm();
  closeForm();
  openForm();
  panel.happened();
  await panel.respond(200); // This is for the key that was sent before the form was closed.
  assertEquals(panel.happened(), []);
  sendForm();
  const sent = ["form text: Activating the key …", "sends a key for Amelia"];
  assertEquals(panel.happened(), sent, "the form can be sent again");
});

/** What happens in flight after a 499 for Amelia, and when the aircraft stands again. */
const IN_FLIGHT = [
  { title: "a locked user stays locked", stored: null, atOnce: [INACTIVE], afterLanding: [] },
  {
    title: "an unlocked user is locked after landing",
    stored: JUST_NOW,
    atOnce: ["clears the entry"],
    afterLanding: [INACTIVE],
  },
];

for (const { title, stored, atOnce, afterLanding } of IN_FLIGHT) {
  Deno.test(`clients/README.md: in flight, ${title}`, async () => {
    const typed = { name: "Amelia", key: "" };
    const panel = load({ stored, typed, isFlying: true });
    const { sendForm } = panel.startPage();
    if (!stored) sendForm(); // Otherwise, the page itself asks about the stored name.
    panel.happened();
    await panel.respond(499);
    assertEquals(panel.happened(), atOnce, "at once");
    await panel.pass(60);
    assertEquals(panel.happened(), [], "in flight");
    panel.land();
    await panel.pass(10);
    assertEquals(panel.happened(), afterLanding, "after landing");
  });
}

Deno.test("clients/README.md: asking about another name cancels the lock that waits", async () => {
  const typed = { name: "Bessie", key: "" };
  const panel = load({ stored: JUST_NOW, typed, isFlying: true });
  const { sendForm } = panel.startPage();
  await panel.respond(499); // The lock waits for the landing, and looks after 10 s.
  await panel.pass(1);
  panel.happened();
  sendForm();
  panel.land();
  assertEquals(panel.happened(), ["shows the add-on", "asks about Bessie"]);
  await panel.pass(9.5);
  assertEquals(panel.happened(), []);
});

const TOO_SHORT_OR_LONG = "form text: The name must have 1 to 256 characters.";

/** What is typed as a name, without a key, and what happens then. */
const NAMES = [
  {
    title: "white space around a typed name is cut off",
    name: " Amelia\t",
    happens: [CHECKING, "asks about Amelia"],
  },
  { title: "white space alone is no name", name: " \t", happens: [TOO_SHORT_OR_LONG] },
  {
    title: "a name of 256 code points of two UTF-16 units each is asked about",
    name: "🛩".repeat(256),
    happens: [CHECKING, `asks about ${"🛩".repeat(256)}`],
  },
  { title: "257 code points are refused", name: "a".repeat(257), happens: [TOO_SHORT_OR_LONG] },
];

for (const { title, name, happens } of NAMES) {
  Deno.test(`clients/README.md: ${title}`, () => {
    const panel = load({ typed: { name, key: "" } });
    const { sendForm } = panel.startPage();
    panel.happened();
    sendForm();
    assertEquals(panel.happened(), happens);
  });
}

Deno.test("clients/README.md: it is locked until a 200 comes, and says what it waits for", async () => {
  const panel = load({ stored: { name: "Amelia", ageS: 14 * DAY_S } });
  panel.startPage();
  // The message is shown at the start, and once more when the stored name is asked about.
  assertEquals(panel.happened(), [CHECKING, CHECKING, "asks about Amelia"]);
  await panel.respond(0);
  assertEquals(panel.happened(), ["logs no response", NO_ANSWER]);
  await panel.pass(5);
  panel.happened();
  await panel.respond(200);
  assertEquals(panel.happened(), ["stores 2000005 Amelia", "shows the add-on"]);
});

Deno.test("clients/README.md: a storage that is never announced is read 5 s after the start", async () => {
  const panel = load({ stored: JUST_NOW, announcesStorage: false });
  panel.startPage();
  assertEquals(panel.happened(), [CHECKING]);
  await panel.pass(5);
  assertEquals(panel.happened(), [CHECKING, "shows the add-on", "asks about Amelia"]);
});

/** Loads the code into a new simulator. */
function load({
  /** Whose last 200 is stored, and how many seconds ago it came. */
  stored = null as { name: string; ageS: number } | null,
  /** What `Math.random` returns. */
  random = 0.5,
  hasStorage = true,
  /** Whether the simulator says at once that the storage is ready. Otherwise, it never says so. */
  announcesStorage = true,
  /** What the form has in its two fields. */
  typed = { name: "", key: "" },
  isFlying = false,
} = {}) {
  time.reset();
  const events: string[] = [];
  const record = (event: string) => void events.push(event);
  const requests: XMLHttpRequest[] = [];
  class XMLHttpRequest {
    address = "";
    onreadystatechange = () => {};
    abort() {}
    change(readyState: number, status: number) {
      Object.assign(this, { readyState, status });
      this.onreadystatechange?.();
    }
    open(method: string, address: string) {
      assertEquals(method, "POST");
      this.address = address;
      this.change(1, 0);
    }
    send(body: string) {
      const { project_id, username, ...more } = JSON.parse(body);
      assertEquals(project_id, PRODUCT);
      const isCheck = this.address === SERVICE;
      if (!isCheck) assertEquals(this.address, BACK_END);
      assertEquals(more, isCheck ? {} : { key: "a key" });
      record(`${isCheck ? "asks about" : "sends a key for"} ${username}`);
      requests.push(this);
    }
  }
  let entry = stored ? `${NOW_S - stored.ageS} ${stored.name}` : "";
  const storage = {
    GetStoredData: () => entry,
    SetStoredData(_key: string, text: string) {
      entry = text;
      record(text ? `stores ${text}` : "clears the entry");
    },
  };
  const simulator = {
    XMLHttpRequest,
    console: { error: (text: string) => record(text.replace(/.*: /, "logs ")) },
    Math: { __proto__: Math, random: () => random },
    RegisterViewListener: (_name: string, listener: () => void) => announcesStorage && listener(),
    ...(hasStorage && storage), // Otherwise, the names are not defined, and using them throws.
  };
  const code = `${PANEL}${ON_PAGE} return { activation, startActivation }`;
  const loaded = new Function(...Object.keys(simulator), code)(...Object.values(simulator));
  const { activation, startActivation } = loaded;
  const unlock = () => record("unlocks");
  const lock = (reason: string) => record(`locks: ${reason}`);
  const ui = {
    showAddOn: () => record("shows the add-on"),
    showMessage: (text: string) => record(`message: ${text}`),
    showForm: (name: string) => record(`shows the form with "${name}"`),
    showFormText: (text: string) => record(`form text: ${text}`),
    readForm: () => typed,
    isFlying: () => isFlying,
  };
  return {
    activation,
    /** Lets panel.js ask about a name until there is an answer. */
    ask: (name: string) => activation.keepAsking(name, unlock, lock),
    /** Starts the page's code. Returns what the buttons call. */
    startPage: () => startActivation(ui),
    /** Responds to the last request, or to the one at an index. 0: no response. No body comes. */
    respond(status: number, { request = -1, readyState = 2 } = {}) {
      requests.at(request)?.change(readyState, status);
      return time.tickAsync(0);
    },
    pass: (seconds: number) => time.tickAsync(1_000 * seconds),
    land: () => void (isFlying = false),
    happened: () => events.splice(0),
  };
}
