/** Plays scenarios to add-ons with the code for callers, in simulated time. */
import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { resultOf } from "../../support/openapi.ts";
import { readExample } from "../../support/pages.ts";

/** The steps of each scenario in `scenarios.txt`, which says what they mean. */
export const SCENARIOS = (await readExample("scenarios.txt"))
  .split(/^## .*\n/m).slice(1).map((text) => text.trim().split("\n"));

/** The step before the first one of each scenario. */
const RESET =
  "0 stop; storage fine; stored ; service 200; callback ; frames on";

/** An add-on with the code for callers. */
export interface AddOn {
  /** Path of the file that it stores. */
  file: string;
  /**
   * Tells it an event, and the second of the scenario and of the wall clock. Returns what it does,
   * up to where it waits: `sends ID BODY`, `asks ID NAME` or `pauses ID SECONDS`. It then gets
   * `reply ID STATUS RESULT`.
   */
  tell(event: string, about: string, ...time: number[]): Promise<string[]>;
}

/** Plays a scenario. Returns its steps with what the add-on did after each. */
export async function play(addOn: AddOn, steps: string[]): Promise<string[]> {
  // The folder of the file is a link: to a real folder, or, for a storage that fails, to a file.
  const link = dirname(addOn.file);
  const real = `${link} real`;
  const file = `${real}/${basename(addOn.file)}`;
  // Only gauge.cpp ends its file with a line feed.
  const ending = link.endsWith("work") ? "\n" : "";
  const stored = () =>
    fs.existsSync(file) && fs.readFileSync(file, "utf8").trim();
  let second = 0;
  let clockS = 2_000_000;
  let service = "";
  let replies: { id: string; at: number; status: string }[] = [];
  let done: string[] = [];

  const reply = (id: string, status: string, seconds = 0) => {
    replies = replies.filter((one) => one.id !== id);
    replies.push({ id, at: second + seconds, status });
  };
  const tell = async (event: string, what: string) => {
    const said = await addOn.tell(event, what, second, clockS + second);
    for (const line of said) {
      const [word = "", id = "", ...rest] = line.split(" ");
      const about = rest.join(" ");
      if (word === "pauses") reply(id, "", Number(about));
      else if (word === "calls") {
        done.push(`${line.slice("calls ".length)}: ${stored() || "nothing"}`);
      } else if (word === "name") {
        done.push(`name: ${line.slice("name ".length) || "nothing"}`);
      } else if (word === "asks" || word === "sends") {
        const isName = word === "asks";
        const name = isName ? about : JSON.parse(about).username ?? "";
        done.push(`asks ${name}`.trim());
        // Whoever sends a body bounds the time.
        const silenceS = isName ? 10 : Infinity;
        reply(id, service, service === "silent" ? silenceS : 0);
      } else if (!line.startsWith("check-username-active: ")) done.push(line);
    }
    return said.length > 0;
  };
  const simulate: Record<string, (what: string) => unknown> = {
    answer: (status) =>
      replies.filter((one) => one.status === "silent")
        .forEach(({ id }) => reply(id, status)),
    clock: (step) => clockS += Number(step),
    look: () => done.push(`stored: ${stored() || "nothing"}`),
    service: (status) => tell("service", service = status),
    storage(state) {
      const cut: Record<string, string> = { cut: "2000000 Ame", empty: "" };
      if (state in cut) return fs.truncateSync(file, cut[state]?.length);
      fs.rmSync(link, { force: true });
      fs.symlinkSync(state === "broken" ? "/dev/null" : real, link);
    },
    stored(text) {
      fs.rmSync(real, { recursive: true, force: true });
      fs.mkdirSync(real);
      if (text) fs.writeFileSync(file, text + ending);
    },
  };

  const played: string[] = [];
  for (const [index, step] of [RESET, ...steps].entries()) {
    const [time = "", events = ""] = splitAtSpace(step);
    for (const text of events.split("; ").filter(Boolean)) {
      const [event = "", what = ""] = splitAtSpace(text);
      const happen = simulate[event] ?? ((what) => tell(event, what));
      await happen(what);
    }
    const end = parseFloat(steps[index] ?? time);
    for (let isOver = false; !isOver;) {
      const [next] = replies.sort((one, other) => one.at - other.at);
      if (next && next.at <= end) {
        const { id, at, status } = next;
        second = at;
        replies.shift();
        await tell("reply", `${id} ${status} ${resultOf(status)}`);
      } else {
        second = end;
        isOver = !await tell("frame", "");
      }
    }
    played.push([step, done.join("; ")].filter(Boolean).join(" -> "));
    done = [];
  }
  return played.slice(1);
}

/** Splits a text at its first space. */
const splitAtSpace = (text: string) => text.split(/ ([^]*)/, 2);
