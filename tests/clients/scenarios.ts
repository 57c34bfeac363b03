/** Plays scenarios, such as those of `scenarios.txt`, to programs with the code for callers. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { run } from "../../tools/command.ts";
import { readPage } from "../support/pages.ts";

/** The steps of each scenario in `scenarios.txt`, which says what they mean, by title. */
export const SCENARIOS = Object.fromEntries(
  (await readPage("supabase/clients/scenarios.txt")).split(/^## /m).slice(1)
    .map((text) => text.trim().split("\n"))
    .map(([title = "", ...steps]) => [title, steps]),
);

/** Returns what a status asks of an add-on. */
export function resultOf(status: string): string {
  if (status === "200") return "active";
  if (status === "499") return "inactive";
  return /^(400|405|413)$/.test(status) ? "mistake" : "no answer";
}

/**
 * Starts a program with the code for callers. It prints `.`, and then, for each line that it reads,
 * `SECOND WALL_SECOND EVENT ABOUT`, what it does and `.`. Where it waits, it prints `waits ID
 * SECONDS`; where it asks, `asks ID BODY` if it has a time-out of its own, else `asks ID NAME`. It
 * then gets the event `reply ID STATUS RESULT`.
 */
export async function startProgram(command: string, cwd: string) {
  const folders = "LOCALAPPDATA=. XDG_DATA_HOME=$PWD LC_ALL=C.UTF-8";
  // The trap makes a write past the limit of `storage full` fail, not end the program.
  const line = `trap "" XFSZ; ${folders} exec ${command} 2>&1`;
  const program = spawn(line, { cwd, shell: true, timeout: 60_000 });
  program.stdin.on("error", () => {}); // It has died, which `tell` reports.
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  const tell = async (...words: (string | number)[]) => {
    if (words.length > 0) program.stdin.write(`${words.join(" ")}\n`);
    for (const said: string[] = [];;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`It has died. ${said.join("\n")}`);
      if (value === ".") return said;
      said.push(value);
    }
  };
  await tell();
  const end = () => void program.stdin.end();
  return { pid: program.pid, tell, [Symbol.dispose]: end };
}

/** Plays steps to a program, which stores a file. Returns them with what it did after each. */
export async function play(
  { tell, pid }: Awaited<ReturnType<typeof startProgram>>,
  file: string,
  steps: string[],
) {
  let second = 0;
  let clockS = 2_000_000;
  let service = "200";
  const due: { id: string; at: number; status: string }[] = [];
  const done: string[] = [];

  const stored = () => {
    const isFile = fs.statSync(file, { throwIfNoEntry: false })?.isFile();
    return isFile && fs.readFileSync(file, "utf8").trim() || "nothing";
  };
  const happen = async (event: string, ...about: string[]) => {
    const said = await tell(second, clockS + second, event, ...about);
    for (const line of said) {
      const [word = "", id = "", ...words] = line.split(" ");
      const about = words.join(" ");
      if (word === "waits") {
        due.push({ id, at: second + Number(about), status: "" });
      } else if (word === "asks") {
        const isBody = about.startsWith("{");
        done.push(`asks ${isBody ? JSON.parse(about).username : about}`);
        const timeoutS = isBody ? Infinity : 10;
        const at = second + (service === "silent" ? timeoutS : 0);
        due.push({ id, at, status: service });
      } else if (word.endsWith("lock")) done.push(`${line}: ${stored()}`);
      else if (word === "error") done.push(line);
    }
  };
  const simulated: Record<string, (about: string) => unknown> = {
    answer(status) {
      const silent = due.filter((one) => one.status === "silent");
      silent.forEach((one) => Object.assign(one, { at: second, status }));
    },
    clock: (seconds) => clockS += Number(seconds),
    service: (status) => service = status,
    storage(state) {
      if (state === "broken") fs.mkdirSync(file, { recursive: true });
      if (state === "cut") fs.truncateSync(file, "2000000 Ame".length);
      const limit = ["--pid", `${pid}`, "--fsize=4"];
      if (state === "full") return run("prlimit", limit);
    },
    stored(entry) {
      fs.mkdirSync(dirname(file), { recursive: true });
      // The file of gauge.cpp ends with a line feed.
      fs.writeFileSync(file, file.endsWith(".txt") ? entry : `${entry}\n`);
    },
  };

  const played: string[] = [];
  for (const [index, step] of steps.entries()) {
    const [time = "", events = ""] = step.split(/ (.*)/);
    second = Number(time);
    for (const text of events.split("; ").filter(Boolean)) {
      const [event = "", about = ""] = text.split(/ (.*)/);
      const happens = simulated[event] ?? happen.bind(null, event);
      await happens(about);
    }
    const end = parseFloat(steps[index + 1] ?? time);
    while (true) {
      const [next] = due.sort((one, other) => one.at - other.at);
      if (!next || next.at > end) break;
      due.shift();
      second = next.at;
      await happen("reply", next.id, next.status, resultOf(next.status));
    }
    played.push([step, done.splice(0).join("; ")].filter(Boolean).join(" -> "));
  }
  return played;
}
