/** Add-ons with the code for callers, for a simulation. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers";
import { SEEDED } from "../../../tools/project.ts";
import type { AddOn } from "./simulation.ts";

type Lock = (result: string) => void;

/**
 * Runs the code of `panel.js`, with what its engine has. `send` responds with a status, from
 * another address after a redirect. The bodies of responses never come.
 */
export function runPanel(
  code: string,
  send: (body: string, respond: (status: number, url?: string) => void) => void,
  globals: object,
) {
  class XMLHttpRequest {
    responseURL = "";
    onreadystatechange: (() => void) | null = null;
    open = (_method: string, url: string) => this.responseURL = url;
    send = (body: string) =>
      send(body, (status, responseURL = this.responseURL) => {
        Object.assign(this, { status, responseURL, readyState: 2 });
        this.onreadystatechange?.();
      });
    abort = () => {};
  }
  const engine = { XMLHttpRequest, ...globals };
  const source = `${code}; return activation;`;
  const run = new Function(...Object.keys(engine), source);
  return run(...Object.values(engine)) as {
    keepAsking(
      name: string | undefined,
      unlock: () => void,
      lock: Lock,
    ): Promise<void>;
    stopAsking(): void;
    storedName(): string | undefined;
  };
}

/** An in-game panel, in this process. It stores its file in a folder of this one. */
export function createPanel(code: string, cwd: string): AddOn {
  const path = (name: string) => `${cwd}/panel/${name}`;
  const replies: ((status: string) => void)[] = [];
  let said: string[] = [];
  let wallMs = 0;
  let service = "";
  let callback = "";
  let tasks = 0;

  const wait = (word: string, about: unknown, goOn: (status: string) => void) =>
    said.push(`${word} ${replies.push(goOn) - 1} ${about}`);
  const panel = runPanel(code, (body, respond) => {
    const isFull = service === "full";
    wait("sends", body, (status) => {
      if (isFull) return;
      if (status.startsWith("3")) respond(200, "https://example.com/");
      else respond(Number(status) || 0);
    });
    if (isFull) throw new Error("Nothing can be sent");
  }, {
    Date: { now: () => wallMs },
    console: { error() {} },
    clearTimeout() {},
    setTimeout: (goOn: () => void, ms: number) =>
      wait("pauses", ms / 1e3, goOn),
    GetStoredData: (name: string) => fs.readFileSync(path(name), "utf8"),
    SetStoredData: (name: string, text: string) =>
      fs.writeFileSync(path(name), text),
  });
  const ask = async (name: string) => {
    tasks++;
    await panel.keepAsking(
      name || undefined,
      () => call("unlock"),
      (why) => call(`lock ${why}`),
    )
      .catch(() => said.push("error"));
    tasks--;
  };
  const call = (what: string) => {
    said.push(`calls ${what}`);
    const does = callback;
    callback = "";
    if (does === "throws") throw new Error("Of the add-on");
    if (does) ask(does.replace("asks ", ""));
  };

  const events: Record<string, (about: string) => unknown> = {
    ask,
    callback: (does) => callback = does,
    name: () => said.push(`name ${panel.storedName() ?? ""}`),
    reply(about) {
      const [id, status = ""] = about.split(" ");
      replies[Number(id)]?.(status);
    },
    service: (status) => service = status,
    stop: () => panel.stopAsking(),
    tasks: () => said.push(`tasks: ${tasks}`),
  };
  return {
    file: path(`check-username-active.${SEEDED.project_id}`),
    async tell(event, about, _second, wallS = 0) {
      said = [];
      wallMs = wallS * 1_000;
      events[event]?.(about);
      await new Promise((settled) => setImmediate(settled));
      return said;
    },
  };
}

/**
 * Starts an add-on in another language, which stores this file. Disposing of it ends it. It reads
 * lines, `SECOND WALL_SECOND EVENT ABOUT`. It prints what it does, and then `.`.
 *
 * @param command For the shell, in this folder.
 */
export function startProgram(command: string, cwd: string, file: string) {
  const args = ["-c", `exec ${command} 2>&1`];
  // A program that hangs is ended.
  const program = spawn("sh", args, { cwd, timeout: 300_000 });
  program.stdin.on("error", () => {}); // It has died, which `tell` reports.
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  return {
    file: `${cwd}/${file}`,
    async tell(event: string, about: string, second = 0, wallS = 0) {
      program.stdin.write(`${second} ${wallS} ${event} ${about}\n`);
      const said: string[] = [];
      while (true) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`It has died. ${said.join("\n")}`);
        if (value === ".") return said;
        said.push(value);
      }
    },
    [Symbol.dispose]: () => void program.kill(),
  };
}
