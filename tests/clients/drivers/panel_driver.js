// Runs panel.js in this process.
import FakeTimers from "@sinonjs/fake-timers";
import { readFileSync } from "node:fs";
import { SEEDED } from "../../../tools/project.ts";

const KEY = `check-username-active.${SEEDED.project_id}`;

/** The request's properties after these answers. After others: its status, and the address. */
const RESPONSES = {
  off: { status: 0 },
  302: { status: 200, responseURL: "https://example.com/" }, // The engine has followed it.
  499: { status: 499 }, // Not every engine has `responseURL`.
};

/** Runs `../panel.js`, seen from `cwd`, through events. Returns what `Client.run` describes. */
export async function runPanel(events, cwd) {
  const code = readFileSync(`${cwd}/../panel.js`, "utf8");
  const clock = FakeTimers.install({
    now: 2_000_000_000,
    toFake: ["Date", "setTimeout", "clearTimeout"],
  });
  using _clock = { [Symbol.dispose]: () => clock.uninstall() };
  const printed = [];
  const print = (text) => printed.push(text);
  const waiting = []; // For an answer of a silent service.
  let service = "200";
  let storage = {};
  let nowS = 0;

  const engine = {
    console: { error() {} },
    Math: { __proto__: Math, random: () => 0.5 }, // Pauses do not vary.
    GetStoredData: (key) => storage[key] ?? "",
    SetStoredData: (key, entry) => storage[key] = entry,
    XMLHttpRequest: class {
      abort() {}
      open(method, url) {
        Object.assign(this, { method, url, readyState: 1 });
        this.onreadystatechange();
      }
      async send(body) {
        print(`${this.method === "POST" ? "asks" : this.method} ${body}`);
        const answer = service === "silent"
          ? await new Promise((resolve) => waiting.push(resolve))
          : service;
        const usual = { status: Number(answer), responseURL: this.url };
        Object.assign(this, RESPONSES[answer] ?? usual);
        this.readyState = 2; // The body never comes.
        this.onreadystatechange?.();
      }
    },
  };
  const load = new Function(...Object.keys(engine), `${code}return activation`);
  const panel = load(...Object.values(engine));

  const happens = {
    print,
    until(second) {
      const ms = 1000 * (second - nowS);
      nowS = Number(second);
      return clock.tickAsync(ms);
    },
    ask(name) {
      const call = (what) => {
        print(`${what}: ${storage?.[KEY] ?? ""}`);
        if (name.endsWith("!")) throw new Error("Of the add-on");
        return new Promise(() => {}); // Never settles: the panel must not wait for it.
      };
      const lock = (result) => call(`lock ${result}`);
      panel.keepAsking(name, () => call("unlock"), lock)
        .catch(() => print("error"));
    },
    stop: panel.stopAsking,
    service: (status) => service = status,
    answer: (status) => waiting.forEach((resolve) => resolve(status)),
    clock: (seconds) => clock.setSystemTime(clock.now + 1000 * seconds),
    stored: (entry) => storage = { [KEY]: entry },
    storage: () => storage = undefined, // Broken: using it throws.
  };
  for (const event of events) {
    const [what, about] = event.split(/ (.*)/);
    await happens[what](about);
    await clock.tickAsync(0);
  }
  return printed;
}
