/** Add-ons with the code for callers, which a simulation tells what happens. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers";
import { fileURLToPath } from "node:url";
import { SEEDED } from "../../../tools/project.ts";
import type { AddOn } from "./simulation.ts";

/** What `panel.js` defines. */
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
    panel.keepAsking(
      name,
      () => call("unlock"),
      (result) => call(`lock ${result}`),
    ).catch(() => said.push("error"));

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
 * Starts an add-on in another language. Disposing of it lets it end. It reads lines of a second of the
 * scenario, a second of the wall clock and an event. It prints what it does, and then `.`.
 *
 * @param file Where it stores its entry, alone in a folder.
 */
export async function startProgram(
  [command = "", ...args]: string[],
  options: { cwd: URL; env: Record<string, string> },
  file: string,
): Promise<AddOn & AsyncDisposable> {
  // A program that hangs is ended.
  const program = spawn(command, args, { ...options, timeout: 300_000 });
  const ended = once(program, "close");
  let stderr = "";
  program.stderr.on(
    "data",
    (bytes) => stderr = `${stderr}${bytes}`.slice(-9e3),
  );
  // What is written to a program that has died is reported where it is read from.
  program.stdin.on("error", () => {});
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  return {
    storage: new FileStorage(fileURLToPath(new URL(file, options.cwd))),
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

/** A file in a folder of its own. Where it is broken, the folder is aside, and a file in its place. */
class FileStorage {
  readonly #folder: string;
  readonly #aside: string;
  readonly #name: string;

  constructor(path: string) {
    [, this.#folder = "", this.#name = ""] = path.match(/(.*)\/(.*)/) ?? [];
    this.#aside = `${this.#folder}.aside`;
    fs.mkdirSync(this.#folder, { recursive: true });
  }

  get #where() {
    return fs.existsSync(this.#aside) ? this.#aside : this.#folder;
  }

  get entry() {
    const path = `${this.#where}/${this.#name}`;
    return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : "";
  }

  set entry(text) {
    const folder = this.#where;
    fs.rmSync(folder, { recursive: true });
    fs.mkdirSync(folder);
    fs.writeFileSync(`${folder}/${this.#name}`, text);
  }

  set state(state: string) {
    if (fs.existsSync(this.#aside)) {
      fs.rmSync(this.#folder);
      fs.renameSync(this.#aside, this.#folder);
    }
    if (state === "empty") fs.truncateSync(`${this.#folder}/${this.#name}`);
    if (state !== "broken") return;
    fs.renameSync(this.#folder, this.#aside);
    fs.writeFileSync(this.#folder, "");
  }
}
