/** Plays scenarios to add-ons, in simulated time, and knows by a model what an add-on has to do. */
import { assertEquals } from "@std/assert";
import { SEEDED } from "../../../tools/project.ts";
import { resultOf } from "../../support/openapi.ts";

/** The second since 1970 at which a scenario begins. */
export const START_S = 2_000_000;

/** The steps of each scenario in `scenarios.txt`, which says what they mean. */
export const SCENARIOS = (await Deno.readTextFile(
  new URL("scenarios.txt", import.meta.url),
)).split(/^## .*\n/m).slice(1).map((text) => text.trim().split("\n"));

/** An add-on with the code for callers. */
export interface AddOn {
  /** What it has stored, and whether it can: `fine`, `read-only`, `broken`; `empty` after a crash. */
  storage: { entry: string; state: string };
  /**
   * Tells it what happens, at a second of a scenario, and of the wall clock. Returns what it does, up
   * to where it waits: `asks ID NAME` for a result, `sends ID BODY` for a status, `pauses ID SECONDS`.
   * It then gets `reply ID RESULT`. `at SECOND` means that it has let the time pass by itself.
   */
  tell(event: string, second: number, wallS: number): Promise<string[]>;
}

/** Plays a scenario. Returns its steps with what the add-on did after each. */
export async function play(addOn: AddOn, steps: string[]): Promise<string[]> {
  let second = 0;
  let clockS = START_S;
  let service = "200";
  let replies: { at: number; id: string; what: string }[] = [];
  let waiting: { id: string; respond: (status: string) => void }[] = [];
  let done: string[] = [];
  const { storage } = addOn;
  const stored = () => storage.entry || "nothing";

  const tell = async (event: string) => {
    const said = await addOn.tell(event, second, clockS + second);
    said.forEach(hear);
    return said.length > 0;
  };
  const reply = (id: string, what: string, seconds = 0) => {
    replies = replies.filter((one) => one.id !== id);
    replies.push({ at: second + seconds, id, what });
  };
  const hear = (line: string) => {
    const [word = "", id = "", ...rest] = line.split(" ");
    const about = rest.join(" ");
    if (word === "at") second = Number(id);
    else if (word === "pauses") reply(id, "", Number(about));
    else if (word === "calls") done.push(`${line.slice(6)}: ${stored()}`);
    else if (word === "asks" || word === "sends") {
      const isBody = word === "sends";
      done.push(`asks ${isBody ? nameIn(about) : about}`);
      const respond = (status: string) =>
        reply(id, isBody ? status : resultOf(status));
      if (service !== "silent") return respond(service);
      waiting.push({ id, respond });
      if (!isBody) reply(id, "no answer", 10);
    } else done.push(line);
  };
  const passTo = async (end: number) => {
    while (true) {
      replies.sort((one, other) => one.at - other.at);
      const [next] = replies;
      if (next && next.at <= end) {
        replies.shift();
        waiting = waiting.filter(({ id }) => id !== next.id);
        second = Math.max(second, next.at);
        await tell(`reply ${next.id} ${next.what}`);
      } else if (!await tell(`pass ${end}`)) break;
    }
    second = end;
  };
  const events: Record<string, (what: string) => unknown> = {
    answer: (status) => waiting.forEach(({ respond }) => respond(status)),
    clock: (step) => clockS += Number(step),
    look: () => done.push(`stored: ${stored()}`),
    service: (state) => tell(`service ${service = state}`),
    storage: (state) => storage.state = state,
    stored: (entry) => storage.entry = entry,
  };

  storage.state = "fine";
  storage.entry = "";
  await tell("new");
  const played: string[] = [];
  for (const [index, step] of steps.entries()) {
    const [time = "", happens = ""] = step.split(/(?<=^[\d.]+) /);
    for (const event of happens.split("; ").filter(Boolean)) {
      const [, word = "", what = ""] = event.match(/^(\w+) ?([^]*)/) ?? [];
      const simulate = events[word];
      await (simulate ? simulate(what) : tell(event));
    }
    await passTo(parseFloat(steps[index + 1] ?? time));
    played.push([step, done.join("; ")].filter(Boolean).join(" -> "));
    done = [];
  }
  return played;
}

function nameIn(body: string): string {
  const { username, ...rest } = JSON.parse(body);
  assertEquals(rest, { project_id: SEEDED.project_id });
  return username;
}

/** The rules of the contract for the code for callers, as an add-on that keeps them. */
export function createModel(): AddOn {
  const storage = { entry: "", state: "fine" };
  let ids = 0;
  let callback = "";
  let asking: { id: string; name: string; pauseS: number } | undefined;

  function step(event: string, wallS: number, says: (line: string) => void) {
    const nowS = Math.floor(wallS);
    const stored = () => {
      const [, second, name] = storage.state === "broken"
        ? []
        : storage.entry.match(/^(\d{1,12}) (.+)$/s) ?? [];
      return { ageS: nowS - Number(second), name };
    };
    const isRecent = (username: string) => {
      const { ageS, name } = stored();
      return name === username && ageS >= -86_400 && ageS < 14 * 86_400;
    };
    const store = (entry: string) => {
      if (storage.state === "fine") storage.entry = entry;
    };
    const wait = (own: typeof asking, word: string, what: unknown) => {
      if (own && own === asking) says(`${word} ${own.id = `${++ids}`} ${what}`);
    };
    const call = (what: string) => {
      const does = callback;
      callback = "";
      says(`calls ${what}`);
      if (does.startsWith("asks ")) ask(does.slice(5));
      if (does !== "throws") return;
      says("error");
      asking = undefined;
    };
    const ask = (name: string) => {
      const own = asking = { id: "", name, pauseS: 5 };
      if (isRecent(name)) call("unlock");
      wait(own, "asks", name);
    };

    const [word = "", first = "", ...rest] = event.split(" ");
    const result = rest.join(" ");
    if (word === "new" || word === "stop") asking = undefined;
    if (word === "new") callback = "";
    if (word === "callback") callback = event.slice(9);
    if (word === "name") says(`name: ${stored().name ?? "nothing"}`);
    if (word === "ask") ask(event.slice(4));
    if (word !== "reply" || first !== asking?.id) return;
    const own = asking;
    if (result === "") return wait(own, "asks", own.name);
    const isActive = result === "active" ||
      (result !== "inactive" && isRecent(own.name));
    if (result === "active") store(`${nowS} ${own.name}`);
    if (result === "inactive" && stored().name === own.name) store("");
    call(isActive ? "unlock" : `lock ${result}`);
    if (result === "no answer") wait(own, "pauses", own.pauseS);
    else if (asking === own) asking = undefined;
    own.pauseS = Math.min(2 * own.pauseS, 600);
  }

  return {
    storage,
    tell(event, _second, wallS) {
      const said: string[] = [];
      step(event, wallS, (line) => said.push(line));
      return Promise.resolve(said);
    },
  };
}
