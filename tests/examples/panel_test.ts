/**
 * `examples/add-on/panel.js`, which asks the service from a panel of the simulator, and the code that calls
 * it on `examples/add-on/README.md`. Both run in exact time, in a simulator whose storage, screens and
 * requests are the test's. `happened` lists what the code has done since the last call of `happened`.
 * The rules in the titles are those of the page.
 */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { readBlocks, readPage } from "../support/pages.ts";

const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
const OTHER_PRODUCT = "b41c7e08-52d9-4a63-8e1f-7d90ac35b216"; // Of another add-on on the page.
const NOW_S = 2_000_000; // When each test begins, in seconds since 1970, and 0.9 s.
const DAY_S = 86_400;

const PANEL = await readPage("examples/add-on/panel.js");
const [, ON_PAGE = ""] = await readBlocks("examples/add-on/README.md", "js");
const time = FakeTimers.install({
  now: NOW_S * 1_000 + 900,
  toFake: ["Date", "setTimeout", "clearTimeout"],
});

type Simulator = Parameters<typeof load>[0];
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

// A storage may keep ASCII alone.
Deno.test("panel.js: rule 2: a name outside ASCII is stored in ASCII, and counts when it is read", async () => {
  const panel = load();
  panel.ask("Zoë 小雪");
  await panel.respond(200);
  panel.ask("Zoë 小雪");
  assertEquals(panel.happened(), [
    "asks about Zoë 小雪",
    "stores 2000000 Zo%C3%AB%20%E5%B0%8F%E9%9B%AA",
    "unlocks",
    "unlocks",
    "asks about Zoë 小雪",
  ]);
});

// The engine would send U+FFFD for it, and so two names could become one.
Deno.test("panel.js: it asks nothing about a name with a lone surrogate, logs the error's message, and locks", async () => {
  const panel = load();
  panel.ask("a\ud83d");
  await panel.pass(1);
  assertEquals(panel.happened(), ["logs URI malformed", "locks: no answer"]);
});

Deno.test("panel.js: rule 1: a new asking ends that about Amelia, which pauses, and that about Bessie, whose response comes late", async () => {
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

Deno.test("panel.js: rule 1: stopping ends an asking, whose response comes late", async () => {
  const panel = load();
  panel.ask("Amelia");
  panel.happened();
  panel.activation.stopAsking();
  await panel.respond(200);
  assertEquals(panel.happened(), []);
});

/**
 * The pauses between questions, in seconds, when `Math.random` always returns this number: 5 s, then
 * twice as long each time, up to 600 s, and each one times 0.5 plus that number.
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
  // The simulator stood still: the status is there, but `readyState` 2, which would tell panel.js so,
  // has not been announced yet.
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

const CHECKING = "shows: Checking the key …";
const NO_KEY = "shows: There is no active key for this name.";

/** What the simulator's `RegisterViewListener` does with the listener, which is the page's `begin`. */
type Listener = "calls" | "calls late" | "never calls" | "throws" | "is missing";

/** When the code on the page asks, in seconds after its start. It asks once. */
const STARTS: { listener: Listener; asksAfterS: number }[] = [
  { listener: "calls", asksAfterS: 0 },
  { listener: "never calls", asksAfterS: 5 },
  { listener: "throws", asksAfterS: 5 },
  { listener: "is missing", asksAfterS: 5 },
];

for (const { listener, asksAfterS } of STARTS) {
  Deno.test(`add-on page: RegisterViewListener ${listener} → the panel asks after ${asksAfterS} s, and shows the result`, async () => {
    const panel = load({ listener });
    panel.startPage();
    const asks = [CHECKING, "asks about Amelia"];
    await panel.pass(4.9);
    assertEquals(panel.happened(), asksAfterS === 0 ? asks : [], "at first");
    await panel.pass(0.1);
    assertEquals(panel.happened(), asksAfterS === 5 ? asks : [], "after 5 s");
    await panel.respond(499);
    assertEquals(panel.happened(), [NO_KEY]);
  });
}

// Before the simulator calls the listener, the storage keeps nothing.
Deno.test("add-on page: the storage is ready after 8 s → the panel asks again, and stores the 200", async () => {
  const panel = load({ listener: "calls late" });
  panel.startPage();
  await panel.pass(5);
  await panel.respond(200);
  const asks = [CHECKING, "asks about Amelia"];
  assertEquals(panel.happened(), [...asks, "shows the add-on"]);
  await panel.pass(3);
  await panel.respond(200);
  assertEquals(panel.happened(), [...asks, "stores 2000008 Amelia", "shows the add-on"]);
});

Deno.test("add-on page: without a name at first, the panel asks after 5 s about the name that is there by then", async () => {
  const panel = load({ name: "" });
  panel.startPage();
  await panel.pass(4);
  panel.setName("Amelia");
  assertEquals(panel.happened(), []);
  await panel.pass(1);
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia"]);
});

Deno.test("add-on page: when a name was typed, the panel asks about it, and does not ask again after 5 s", async () => {
  const panel = load({ name: "", listener: "never calls" });
  panel.startPage();
  panel.setName("Amelia");
  panel.askAgain();
  await panel.pass(5);
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia"]);
});

Deno.test("add-on page: after a 499 and an activation, the panel asks about the same name again, and a 200 unlocks", async () => {
  const panel = load();
  panel.startPage();
  await panel.respond(499);
  panel.askAgain();
  await panel.respond(200);
  const asks = [CHECKING, "asks about Amelia"];
  const unlocks = ["stores 2000000 Amelia", "shows the add-on"];
  assertEquals(panel.happened(), [...asks, NO_KEY, ...asks, ...unlocks]);
});

Deno.test("add-on page: when the name is emptied, the asking ends, and the panel locks", async () => {
  const panel = load();
  panel.startPage();
  panel.setName("");
  panel.askAgain();
  await panel.respond(200); // Of the asking that was ended.
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia", "shows: Enter your name."]);
});

Deno.test("add-on page: two add-ons on a page ask for their own product, and each keeps its own 200", async () => {
  const otherPage = ON_PAGE.replace(PRODUCT, OTHER_PRODUCT);
  const panel = load({ scripts: [PANEL, ON_PAGE, PANEL, otherPage] });
  const [asks, otherAsks] = ["asks about Amelia", "asks about Amelia (the other add-on)"];
  assertEquals(panel.happened(), [CHECKING, asks, CHECKING, otherAsks]);
  // Neither has ended the other's asking.
  await panel.respond(200, { request: 0 });
  assertEquals(panel.happened(), ["stores 2000000 Amelia", "shows the add-on"]);
  await panel.respond(200, { request: 1 });
  assertEquals(panel.happened(), ["stores 2000000 Amelia (the other add-on)", "shows the add-on"]);
});

/** Loads the code into a new simulator. */
function load({
  /** Whose last 200 is stored, and how many seconds ago it came. */
  stored = null as { name: string; ageS: number } | null,
  hasStorage = true,
  canWrite = true,
  listener = "calls" as Listener,
  /** What `Math.random` returns. */
  random = 0.5,
  /** The name that the user has. */
  name = "Amelia",
  scripts = [PANEL], // What the page loads.
} = {}) {
  time.reset();
  const events: string[] = [];
  const record = (event: string) => void events.push(event);
  const inProduct = (event: string, product: string) =>
    record(product === PRODUCT ? event : `${event} (the other add-on)`);
  const requests: XMLHttpRequest[] = [];
  class XMLHttpRequest {
    isOpen = false;
    onreadystatechange = () => {};
    abort() {
      this.isOpen = false;
    }
    change(readyState: number, status: number) {
      Object.assign(this, { readyState, status });
      this.onreadystatechange?.();
    }
    open(method: string, address: string) {
      assertEquals(method + address, "POST" + SERVICE);
      this.change(1, 0);
    }
    send(body: string) {
      const { username, project_id, ...others } = JSON.parse(body);
      assertEquals(others, {});
      inProduct(`asks about ${username}`, project_id);
      this.isOpen = true;
      requests.push(this);
    }
  }
  let isReady = listener !== "calls late";
  const entry = stored ? `${NOW_S - stored.ageS} ${stored.name}` : "";
  const entries: Record<string, string> = { [`check-username-active.${PRODUCT}`]: entry };
  const storage = {
    GetStoredData: (key: string) => entries[key] ?? "",
    SetStoredData(key: string, text: string) {
      if (!canWrite) throw new Error("full");
      if (!isReady) return;
      entries[key] = text;
      inProduct(text ? `stores ${text}` : "clears the entry", key.split(".")[1]!);
    },
  };
  const itsOwn = {
    XMLHttpRequest,
    console: { error: (text: string) => record(text.replace(/.*: /, "logs ")) },
    Math: { __proto__: Math, random: () => random },
    ...(listener !== "is missing" && {
      RegisterViewListener(_name: string, onReady: () => void) {
        if (listener === "throws") throw new Error(listener);
        if (listener === "calls") onReady();
        if (listener !== "calls late") return;
        setTimeout(() => {
          isReady = true;
          onReady();
        }, 8_000);
      },
    }),
    ...(hasStorage && storage), // Otherwise, the names are not defined, and using them throws.
  };
  let askAgain = () => {}; // The page's `ask`.
  const page = {
    readName: () => name,
    showAddOn: () => record("shows the add-on"),
    showText: (text: string) => record(`shows: ${text}`),
    keepAsk: (ask: () => void) => askAgain = ask,
  };
  const globals = { ...itsOwn, ...page };
  // As in a browser, an error ends the script, and not the timers that it has started. The developer's
  // own code stands inside the function of the page.
  const onPage = ON_PAGE.replace(/(?=\/\/ Your functions)/, "keepAsk(ask); ");
  const code = `${scripts.join("\n")}
    const activation = createActivation("${SERVICE}", "${PRODUCT}");
    return { activation, startPage() { try { ${onPage} } catch {} } };`;
  const loaded = new Function(...Object.keys(globals), code)(...Object.values(globals));
  const { activation, startPage } = loaded;
  const unlock = () => record("unlocks");
  const lock = (reason: string) => record(`locks: ${reason}`);
  return {
    activation,
    /** Runs the code on the page. */
    startPage,
    setName: (changed: string) => name = changed,
    /** Calls the page's `ask`, as an add-on does when the name has changed or a key was activated. */
    askAgain: () => askAgain(),
    /** Lets panel.js ask about a name until there is an answer. */
    ask: (name: string) => activation.keepAsking(name, unlock, lock),
    /** Responds to the last request, or to the one at an index. 0: no response. No body comes. */
    respond(status: number, { request = -1, readyState = 2 } = {}) {
      requests.at(request)?.change(readyState, status);
      return time.tickAsync(0);
    },
    /** How many requests have neither ended nor been given up. */
    openRequests: () => requests.filter(({ isOpen }) => isOpen).length,
    pass: (seconds: number) => time.tickAsync(1_000 * seconds),
    happened: () => events.splice(0),
  };
}
