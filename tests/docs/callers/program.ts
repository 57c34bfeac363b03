import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { resultOf } from "../../support/openapi.ts";
import { START_S, World } from "./histories.ts";

/** Starts a program of another language. Disposing of it lets it end. */
export async function startProgram(
  command: string,
  options: { cwd: URL; env: Record<string, string> },
  file: URL,
) {
  await fs.promises.mkdir(new URL(".", file), { recursive: true });
  const child = spawn("sh", ["-c", command], options);
  child.stderr.pipe(process.stderr);
  return {
    tell: (line: string) => child.stdin.write(line),
    says: createInterface(child.stdout)[Symbol.asyncIterator](),
    /** Its second. */
    now: 0,
    /** Where it stores its entry. */
    file,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/**
 * Goes through a history with a program. It is told one thing at a time, with the second of the wall
 * clock. It says what it does and what it waits for: `ask ID NAME` for a result, `send ID BODY` for a
 * status, `refused ID BODY` for nothing, `pause ID SECONDS` for the time. Then it says `.`, with its
 * second if it counts by itself.
 */
export async function playProgram(
  program: Awaited<ReturnType<typeof startProgram>>,
  history: string[],
): Promise<string[]> {
  const world = new World();
  const start = program.now;
  let clock = START_S - start;
  let due: { at: number; id: string; what: string }[] = [];
  const waiting = new Map<string, (status: string) => void>();

  const aside = new URL("aside", program.file);
  const entry = () => fs.existsSync(aside) ? aside : program.file;
  const setStorage = (state: string) => {
    if (fs.existsSync(aside)) {
      fs.rmdirSync(program.file);
      fs.renameSync(aside, program.file);
    }
    if (state === "fine") return;
    // A folder can be neither read nor written like a file.
    fs.renameSync(program.file, aside);
    fs.mkdirSync(program.file);
  };
  Object.defineProperty(world, "stored", {
    get: () => fs.readFileSync(entry(), "utf8"),
    set: (text) => fs.writeFileSync(entry(), text),
  });
  setStorage("fine");
  world.stored = "";

  /** Whether it said anything. */
  const tell = async (what: string) => {
    program.tell(`${program.now + clock} ${what}\n`);
    for (let count = 0;; count++) {
      const { value = "." } = await program.says.next();
      const [word = "", id = "", ...about] = value.split(" ");
      if (word === "." && id) program.now = Number(id);
      if (word === ".") return count > 0;
      hear(value, word, id, about.join(" "));
    }
  };
  const hear = (value: string, word: string, id: string, about: string) => {
    const reply = (what: string, seconds = 0) => {
      due = due.filter((one) => one.id !== id);
      due.push({ at: program.now + seconds, id, what });
    };
    if (word === "pause") return reply("", Number(about));
    if (word === "error") return world.say(word);
    if (word === "refused") return world.say(`asks ${about}`);
    if (word !== "ask" && word !== "send") {
      return world.say(`${value}: ${world.stored || "nothing"}`);
    }
    world.say(`asks ${about}`);
    const answer = (status: string) =>
      reply(word === "send" ? status : resultOf(status));
    if (world.service !== "silent") return answer(world.service);
    waiting.set(id, answer);
    // A gauge gives up by itself.
    if (word === "ask") reply("no answer", 10);
  };
  await tell("new ");
  return await world.play(history, async (second) => {
    const end = Math.round((start + second) * 10) / 10;
    while (true) {
      const [next] = due.sort((one, other) => one.at - other.at);
      if (next && next.at <= end) {
        due.shift();
        waiting.delete(next.id);
        program.now = Math.max(program.now, next.at);
        await tell(`reply ${next.id} ${next.what}`);
      } else if (!await tell(`pass ${end}`)) break;
    }
    program.now = end;
  }, {
    ask: (name) => tell(`ask ${name}`),
    answer: (status) => waiting.forEach((answer) => answer(status)),
    clock: (step) => clock += Number(step),
    throw: () => tell("next throw"),
    anew: (name) => tell(`next ${name}`),
    service: (state) => tell(`service ${world.service = state}`),
    stop: () => tell("stop "),
    storage: setStorage,
  });
}
