// Loads panel.js as it ships, and plays a scenario to it, in the protocol of startProgram.
import { readFileSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

const shipped = new URL("../../../supabase/clients/panel.js", import.meta.url);
const code = readFileSync(shipped, "utf8").replace("<ref>", "example")
  .replace("(500 + 1000 * Math.random())", "1000"); // Pauses do not vary.

/**
 * Loads panel.js into an engine, whose `send` gets the body of a request, and a function to call
 * with the status: 0 without a network. What the engine lacks is a global variable.
 */
export function loadPanel({ send, ...engine }) {
  engine.console = { error() {} };
  engine.XMLHttpRequest = class {
    open = (_, url) => this.responseURL = url;
    abort() {}
    send(body) {
      send(body, (status) => {
        const isRedirect = status === 302; // The engine follows it.
        if (isRedirect) this.responseURL = "https://example.com/";
        this.status = isRedirect ? 200 : status;
        this.readyState = 2; // The body never comes.
        this.onreadystatechange?.();
      });
    }
  };
  const load = new Function(...Object.keys(engine), `${code}return activation`);
  return load(...Object.values(engine));
}

/** Starts a program that stores this file, in this process. It has the `tell` of startProgram. */
export function startPanel(file) {
  const said = [];
  const waiting = [];
  const last = {}; // What each event was about.
  let wallMs;

  const wait = (word, about, goOn) =>
    said.push(`${word} ${waiting.push(goOn) - 1} ${about}`);
  const call = (what) => {
    said.push(what);
    const does = last.callback;
    delete last.callback;
    if (does === "throws") throw new Error("Of the add-on");
    if (does === "waits") return new Promise(() => {});
  };
  const panel = loadPanel({
    Date: { now: () => wallMs },
    setTimeout: (goOn, ms) => wait("waits", ms / 1000, goOn),
    clearTimeout() {},
    GetStoredData: () => readFileSync(file, "utf8"),
    SetStoredData: (_, entry) => writeFileSync(file, entry),
    send: (body, respond) => wait("asks", body, respond),
  });
  const tell = async (line) => {
    const [, wallS, event, about] = /^\S+ (\S+) (\S+) (.*)/.exec(line);
    wallMs = 1000 * wallS;
    last[event] = about;
    if (event === "ask") {
      const lock = (result) => call(`lock ${result}`);
      panel.keepAsking(about, () => call("unlock"), lock)
        .catch(() => said.push("error"));
    }
    if (event === "name") said.push(`name: ${panel.storedName() ?? ""}`);
    if (event === "reply") {
      const [id, status] = about.split(" ");
      waiting[id](parseInt(status) || 0);
    }
    if (event === "stop") panel.stopAsking();
    await setImmediate();
    return said.splice(0);
  };
  return { tell, [Symbol.dispose]() {} };
}
