/** Plays scenarios to add-ons with the code for callers, in simulated time. */
import { assertEquals } from "@std/assert";
import { SEEDED } from "../../../tools/project.ts";
import { resultOf } from "../../support/openapi.ts";
import { readExample } from "../../support/pages.ts";

/** The second since 1970 at which a scenario begins. */
export const START_S = 2_000_000;

/** The steps of each scenario in `scenarios.txt`, which says what they mean. */
export const SCENARIOS = (await readExample("scenarios.txt"))
  .split(/^## .*\n/m).slice(1).map((text) => text.trim().split("\n"));

/** An add-on with the code for callers. */
export interface AddOn {
  /** What it has stored, and whether it can: `fine`, `read-only`, `broken`; `empty` after a crash. */
  storage: { entry: string; state: string };
  /**
   * Tells it what happens, at a second of the scenario, and of the wall clock. Returns what it does, up
   * to where it waits: `asks ID NAME` for a result, `sends ID BODY` for a status, `pauses ID SECONDS`.
   * It then gets `reply ID RESULT`. `at SECOND` means that it has let time pass by itself.
   */
  tell(event: string, second: number, wallS: number): Promise<string[]>;
}

/** Plays a scenario. Returns its steps with what the add-on did after each. */
export async function play(addOn: AddOn, steps: string[]): Promise<string[]> {
  const { storage } = addOn;
  let second = 0;
  let clockS = START_S;
  let service = "200";
  let replies: { at: number; id: string; what: string }[] = [];
  let waiting: { id: string; respond: (status: string) => void }[] = [];
  let done: string[] = [];
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
  const wait = (id: string, respond: (status: string) => void) => {
    if (service === "silent") waiting.push({ id, respond });
    else respond(service);
  };
  const hear = (line: string) => {
    const [word = "", id = "", ...rest] = line.split(" ");
    const about = rest.join(" ");
    if (word === "at") second = Number(id);
    else if (word === "pauses") reply(id, "", Number(about));
    else if (word === "calls") done.push(`${line.slice(6)}: ${stored()}`);
    else if (word === "asks") {
      done.push(`asks ${about}`);
      reply(id, "no answer", 10);
      wait(id, (status) => reply(id, resultOf(status)));
    } else if (word === "sends") {
      const { username, project_id } = JSON.parse(about);
      done.push(`asks ${username}`);
      assertEquals(project_id, SEEDED.project_id);
      wait(id, (status) => reply(id, status));
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

  Object.assign(storage, { state: "fine", entry: "" });
  await tell("new");
  const played: string[] = [];
  for (const [index, step] of steps.entries()) {
    const [time = "", happens = ""] = step.split(/(?<=^[\d.]+) /);
    for (const event of happens.split("; ").filter(Boolean)) {
      const [, word = "", what = ""] = event.match(/^(\w+) ?(.*)/) ?? [];
      const simulate = events[word];
      await (simulate ? simulate(what) : tell(event));
    }
    await passTo(parseFloat(steps[index + 1] ?? time));
    played.push([step, done.join("; ")].filter(Boolean).join(" -> "));
    done = [];
  }
  return played;
}
