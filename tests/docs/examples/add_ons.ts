/** Add-ons with the code for callers, for a simulation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers";
import { SEEDED } from "../../../tools/project.ts";
import type { AddOn } from "./simulation.ts";

/** What `panel.js` defines, as far as it is used here. */
export interface Panel {
  keepAsking(
    username: string,
    unlock: () => void,
    lock: (result: string) => void,
  ): Promise<void>;
  stopAsking(): void;
  storedName(): string | undefined;
}

/** Runs the code of `panel.js` with these in the place of the engine's globals. */
export const runPanel = (code: string, globals: Record<string, unknown>) =>
  new Function(...Object.keys(globals), `${code}; return activation;`)(
    ...Object.values(globals),
  ) as Panel;

/** An in-game panel, in this process. */
export function createPanel(code: string): AddOn {
  const storage = { entry: "", state: "fine" };
  const key = `check-username-active.${SEEDED.project_id}`;
  const waiting: ((reply: string) => void)[] = [];
  let said: string[] = [];
  let wallMs = 0;
  let service = "";
  let callback = "";
  let panel: Panel;

  const wait = (word: string, about: unknown, goOn: (reply: string) => void) =>
    said.push(`${word} ${waiting.push(goOn) - 1} ${about}`);
  const call = (what: string) => {
    const does = callback;
    callback = "";
    said.push(`calls ${what}`);
    if (does.startsWith("asks ")) ask(does.slice(5));
    if (does === "throws") throw new Error("Of the add-on");
  };
  const ask = (name: string) =>
    panel.keepAsking(name, () => call("unlock"), (why) => call(`lock ${why}`))
      .catch(() => said.push("error"));

  /** Its bodies never come. It follows redirects, as a browser does. */
  class XMLHttpRequest {
    readyState = 0;
    status = 0;
    responseURL = "";
    onreadystatechange: (() => void) | null = null;
    open(_method: string, url: string) {
      this.responseURL = url;
    }
    send(body: string) {
      wait("sends", body, (status) => {
        const isRedirected = status.startsWith("3");
        this.status = isRedirected ? 200 : Number(status) || 0;
        if (isRedirected) this.responseURL += "/";
        this.readyState = 2;
        this.onreadystatechange?.();
      });
      if (service === "full") throw new Error("Nothing can be sent");
    }
    abort() {}
  }
  const globals = {
    XMLHttpRequest,
    Date: { now: () => wallMs },
    console: { error() {} },
    clearTimeout() {},
    setTimeout: (goOn: () => void, ms: number) =>
      wait("pauses", ms / 1_000, goOn),
    GetStoredData(name: string) {
      if (storage.state === "broken") throw new Error("Cannot be read");
      return name === key ? storage.entry : "";
    },
    SetStoredData(name: string, text: string) {
      if (storage.state !== "fine") throw new Error("Cannot be written");
      if (name === key) storage.entry = text;
    },
  };

  return {
    storage,
    async tell(event, _second, wallS) {
      said = [];
      wallMs = wallS * 1_000;
      const [word = "", id = ""] = event.split(" ");
      const about = event.slice(word.length + 1);
      if (word === "new") panel = runPanel(code, globals);
      if (word === "new" || word === "callback") callback = about;
      if (word === "service") service = about;
      if (word === "name") {
        said.push(`name: ${panel.storedName() ?? "nothing"}`);
      }
      if (word === "ask") ask(about);
      if (word === "stop") panel.stopAsking();
      if (word === "reply") waiting[Number(id)]?.(about.slice(id.length + 1));
      await new Promise((settled) => setImmediate(settled));
      return said;
    },
  };
}

/**
 * Starts an add-on in another language. Disposing of it lets it end. It reads lines: a second of the
 * scenario, a second of the wall clock, and an event. It prints what it does, and then `.`.
 *
 * @param file Where it stores its entry, alone in its folder.
 */
export function startProgram(
  [command = "", ...args]: string[],
  options: { cwd: string; env: Record<string, string> },
  file: string,
): AddOn & AsyncDisposable {
  // A program that hangs is ended.
  const program = spawn(command, args, { ...options, timeout: 300_000 });
  const ended = once(program, "close");
  let stderr = "";
  program.stderr.on(
    "data",
    (bytes) => stderr = `${stderr}${bytes}`.slice(-9e3),
  );
  program.stdin.on("error", () => {}); // It has died, which `tell` reports.
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();

  // Its folder is a link: to a real one, or, where that is broken, to what is none.
  const [folder = "", name = ""] = file.split("/");
  const [link, real] = [`${options.cwd}/${folder}`, `${options.cwd}/real`];
  const path = `${real}/${name}`;
  return {
    storage: {
      get entry() {
        return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : "";
      },
      set entry(text) {
        fs.rmSync(real, { recursive: true, force: true });
        fs.mkdirSync(real);
        fs.writeFileSync(path, text);
      },
      set state(state: string) {
        if (state === "empty") fs.truncateSync(path);
        fs.rmSync(link, { force: true });
        fs.symlinkSync(state === "broken" ? "/dev/null" : real, link);
      },
    },
    async tell(event, second, wallS) {
      program.stdin.write(`${second} ${wallS} ${event}\n`);
      const said: string[] = [];
      while (true) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`${command} has died: ${event}\n${stderr}`);
        if (value === ".") return said;
        said.push(value);
      }
    },
    async [Symbol.asyncDispose]() {
      program.stdin.end();
      await ended;
    },
  };
}
