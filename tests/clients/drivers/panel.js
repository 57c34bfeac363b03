// Loads panel.js as it ships, and plays a scenario to it.
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

/** Starts panel.js in this process, as startProgram starts the others in theirs. */
export function startPanel(file) {
  const said = [];
  const waiting = [];
  let wallMs = 0;

  const wait = (word, about, goOn) =>
    said.push(`${word} ${waiting.push(goOn) - 1} ${about}`);
  const panel = loadPanel({
    Date: { now: () => wallMs },
    setTimeout: (goOn, ms) => wait("waits", ms / 1000, goOn),
    clearTimeout() {},
    GetStoredData: () => readFileSync(file, "utf8"),
    SetStoredData: (_, entry) => writeFileSync(file, entry),
    send: (body, respond) => wait("asks", body, respond),
  });
  const events = {
    ask(name) {
      const call = (what) => {
        said.push(what);
        if (name.endsWith("!")) throw new Error("Of the add-on");
      };
      const lock = (result) => call(`lock ${result}`);
      panel.keepAsking(name, () => call("unlock"), lock)
        .catch(() => said.push("error"));
    },
    reply: (id, status) => waiting[id](parseInt(status) || 0),
    stop: panel.stopAsking,
  };
  const tell = async (_second, wallS, event, ...about) => {
    wallMs = 1000 * wallS;
    events[event](...about);
    await setImmediate();
    return said.splice(0);
  };
  return { tell, pid: undefined, [Symbol.dispose]: () => undefined };
}
