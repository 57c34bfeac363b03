// Plays a scenario to panel.js, in the protocol of startProgram.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";

const waiting = [];
const last = {}; // What each event was about.
let wallMs;

const wait = (word, about, goOn) =>
  console.log(word, waiting.push(goOn) - 1, about);

const engine = {
  Date: { now: () => wallMs },
  console: { error() {} },
  setTimeout: (goOn, ms) => wait("waits", ms / 1000, goOn),
  clearTimeout() {},
  GetStoredData: () => readFileSync("panel.txt", "utf8"),
  SetStoredData: (_, entry) => writeFileSync("panel.txt", entry),
  XMLHttpRequest: class {
    open = (_, url) => this.responseURL = url;
    abort() {}
    send(body) {
      wait("asks", body, (status) => {
        const isRedirect = status.startsWith("3"); // The engine follows it.
        if (isRedirect) this.responseURL = "https://example.com/";
        this.status = isRedirect ? 200 : parseInt(status) || 0;
        this.readyState = 2; // The body never comes.
        this.onreadystatechange?.();
      });
      if (last.service === "full") throw new Error("Nothing can be sent");
    }
  },
};
const file = new URL("../../../supabase/clients/panel.js", import.meta.url);
const code = readFileSync(file, "utf8").replace("<ref>", "example")
  .replace("(500 + 1000 * Math.random())", "1000"); // Pauses do not vary.
const load = new Function(...Object.keys(engine), `${code}; return activation`);
const activation = load(...Object.values(engine));

function ask(name) {
  const lock = (result) => call(`lock ${result}`);
  activation.keepAsking(name, () => call("unlock"), lock)
    .catch(() => console.log("error"));
}

function call(what) {
  console.log(what);
  const does = last.callback;
  delete last.callback;
  if (does === "throws") throw new Error("Of the add-on");
  if (does === "waits") return new Promise(() => {});
  if (does) ask(does.slice("asks ".length));
}

console.log(".");
for await (const line of createInterface(process.stdin)) {
  const [, wallS, event, ...words] = line.split(" ");
  const about = words.join(" ");
  wallMs = 1000 * wallS;
  last[event] = about;
  if (event === "ask") ask(about || undefined);
  if (event === "name") console.log("name:", activation.storedName() ?? "");
  if (event === "reply") waiting[words[0]](words[1]);
  if (event === "stop") activation.stopAsking();
  await setImmediate();
  console.log(".");
}
