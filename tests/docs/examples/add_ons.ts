/** Add-ons with the code for callers, for a simulation. */
import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers";
import { SEEDED } from "../../../tools/project.ts";
import type { AddOn } from "./simulation.ts";

/** What the tests use of `panel.js`. */
interface Panel {
  keepAsking(
    ...args: [name: string, unlock: () => void, lock: (why: string) => void]
  ): Promise<void>;
  stopAsking(): void;
  storedName(): string | undefined;
}

/** Sends a body, and responds with a status, from another address where that is a redirect's. */
type Send = (
  body: string,
  respond: (status: number, url?: string) => void,
) => void;

/** Runs the code of `panel.js` with these globals of its engine. The bodies of responses never come. */
export function runPanel(code: string, send: Send, globals: object): Panel {
  class XMLHttpRequest {
    responseURL = "";
    onreadystatechange: (() => void) | null = null;
    open(_method: string, url: string) {
      this.responseURL = url;
    }
    send(body: string) {
      send(body, (status, responseURL = this.responseURL) => {
        Object.assign(this, { status, responseURL, readyState: 2 });
        this.onreadystatechange?.();
      });
    }
    abort() {}
  }
  const all = { XMLHttpRequest, ...globals };
  const run = new Function(...Object.keys(all), `${code}; return activation;`);
  return run(...Object.values(all));
}

/** An in-game panel, in this process. */
export function createPanel(code: string): AddOn {
  const storage = { entry: "", state: "fine" };
  const waiting: ((reply: string) => void)[] = [];
  let said: string[] = [];
  let wallMs = 0;
  let service = "";
  let callback = "";
  let panel: Panel;

  const wait = (word: string, about: unknown, goOn: (reply: string) => void) =>
    said.push(`${word} ${waiting.push(goOn) - 1} ${about}`);
  const ask = (name: string) =>
    panel.keepAsking(name, () => call("unlock"), (why) => call(`lock ${why}`))
      .catch(() => said.push("error"));
  const call = (what: string) => {
    const does = callback;
    callback = "";
    said.push(`calls ${what}`);
    if (does.startsWith("asks ")) ask(does.slice(5));
    if (does === "throws") throw new Error("Of the add-on");
  };
  const send: Send = (body, respond) => {
    const isFull = service === "full";
    wait("sends", body, (status) => {
      if (isFull) return;
      if (status.startsWith("3")) respond(200, "https://example.com/");
      else respond(Number(status) || 0);
    });
    if (isFull) throw new Error("Nothing can be sent");
  };
  const open = (name: string) => {
    assertEquals(name, `check-username-active.${SEEDED.project_id}`);
    assertEquals(storage.state, "fine");
    return storage;
  };
  const globals = {
    Date: { now: () => wallMs },
    console: { error() {} },
    clearTimeout() {},
    setTimeout: (goOn: () => void, ms: number) =>
      wait("pauses", ms / 1e3, goOn),
    GetStoredData: (name: string) => open(name).entry,
    SetStoredData: (name: string, text: string) => open(name).entry = text,
  };

  return {
    storage,
    async tell(event, _second, wallS) {
      said = [];
      wallMs = wallS * 1_000;
      const [, word, about = ""] = event.match(/^(\w+) ?(.*)/) ?? [];
      if (word === "new") panel = runPanel(code, send, globals);
      if (word === "new" || word === "callback") callback = about;
      if (word === "service") service = about;
      if (word === "name") {
        said.push(`name: ${panel.storedName() ?? "nothing"}`);
      }
      if (word === "ask") ask(about);
      if (word === "stop") panel.stopAsking();
      const [id = "", ...reply] = about.split(" ");
      if (word === "reply") waiting[Number(id)]?.(reply.join(" "));
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
  const log = `${options.cwd}/log`;
  // A program that hangs is ended.
  const program = spawn(command, args, { ...options, timeout: 300_000 });
  const ended = once(program, "close");
  program.stderr.pipe(fs.createWriteStream(log));
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
        if (done) throw new Error(`It has died. ${fs.readFileSync(log)}`);
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
