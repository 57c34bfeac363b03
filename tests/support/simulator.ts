/**
 * A simulator for `panel.js` and the code of its page, in exact time: its storage, screens and
 * requests are the test's. `happened` lists what the code has done since its last call.
 */
import FakeTimers from "@sinonjs/fake-timers";
import { assertEquals } from "@std/assert";
import { readBlocks, readPage } from "./pages.ts";

export const PRODUCT = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
const NOW_S = 2_000_000; // When each test begins, in seconds since 1970, and 0.9 s.

export const PANEL = await readPage("examples/add-on/panel.js");
export const [ON_PAGE = ""] = await readBlocks("examples/add-on/panel.md", "js");
const time = FakeTimers.install({
  now: NOW_S * 1_000 + 900,
  toFake: ["Date", "setTimeout", "clearTimeout"],
});

/** What the simulator's `RegisterViewListener` does with the listener, the page's `begin`. */
export type Listener = "calls" | "calls late" | "never calls" | "throws";

export type Simulator = Parameters<typeof load>[0];

/** Loads the code into a new simulator. */
export function load({
  stored = null as { name: string; ageS: number } | null, // Whose last 200, and how old it is.
  hasStorage = true,
  canWrite = true,
  listener = "calls" as Listener,
  random = 0.5, // What `Math.random` returns.
  name = "Amelia", // The name that the user has.
} = {}) {
  time.reset();
  const events: string[] = [];
  const record = (event: string) => void events.push(event);
  const requests: XMLHttpRequest[] = [];
  class XMLHttpRequest {
    isOpen = false;
    withCredentials = false;
    onreadystatechange = () => {};
    abort() {
      this.isOpen = false;
    }
    change(readyState: number, status: number) {
      Object.assign(this, { readyState, status });
      this.onreadystatechange?.();
    }
    open(...call: unknown[]) {
      assertEquals(call, ["POST", SERVICE]); // And not synchronous, which would stop the simulator.
      this.change(1, 0);
    }
    send(body: string) {
      // With credentials, an engine hides the response, because the function allows every origin.
      assertEquals(this.withCredentials, false);
      const { username, ...others } = JSON.parse(body);
      assertEquals(others, { project_id: PRODUCT });
      record(`asks about ${username}`);
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
      record(text ? `stores ${text}` : "clears the entry");
    },
  };
  const itsOwn = {
    XMLHttpRequest,
    console: { error: (text: string) => record(text.replace(/.*: /, "logs ")) },
    Math: { __proto__: Math, random: () => random },
    RegisterViewListener(name: string, onReady: (isReady?: boolean) => void) {
      assertEquals(name, "JS_LISTENER_DATASTORAGE");
      if (listener === "throws") throw new Error(listener);
      if (listener === "calls") onReady();
      if (listener === "calls late") setTimeout(() => onReady(isReady = true), 8_000);
    },
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
  // The page's `ask` is inside of a function. The code of an add-on, which calls it, stands there
  // in the place of a comment. This line is the test's code there: it lets `askAgain` call `ask`.
  const onPage = ON_PAGE.replace("// Your functions", "keepAsk(ask); $&");
  // As in a browser, an error ends the page's script, and not the timers that it has started.
  const code = `${PANEL}
    const activation = createActivation("${SERVICE}", "${PRODUCT}");
    return { activation, startPage() { try { ${onPage} } catch {} } };`;
  const loaded = new Function(...Object.keys(globals), code)(...Object.values(globals));
  const { activation, startPage } = loaded;
  const unlock = () => record("unlocks");
  const lock = (reason: string) => record(`locks: ${reason}`);
  return {
    startPage, // Runs the code on the page.
    setName: (changed: string) => name = changed,
    /** Calls the page's `ask`, as an add-on does when the name has changed. */
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
