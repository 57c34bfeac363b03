/** Plays scenarios, such as those of `scenarios.txt`, to the code for callers. */
import { assert } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";

export const SCENARIOS_TEXT = await readPage("supabase/clients/scenarios.txt");

/**
 * Plays the lines of a scenario. Returns them with what the code did after each.
 *
 * `run` gets events: those of `scenarios.txt`, `until SECOND` (time passes) and `print TEXT`. It
 * returns what was printed: each TEXT, and what the code did, as in `scenarios.txt`, but `asks` may
 * have the body of the request instead of the name.
 */
export async function play(
  run: (events: string[]) => Promise<string[]>,
  lines: string[],
): Promise<string[]> {
  const events = lines.flatMap((line) => {
    const step = line.replace(/ ->.*/, "");
    const [second, happens = ""] = step.split(/ (.*)/);
    return [`until ${second}`, `print ${step}`, ...happens.split("; ")];
  });
  const played: string[][] = [];
  for (const line of await run(events.filter(Boolean))) {
    if (/^\d/.test(line)) played.push([]); // A TEXT begins with its second.
    const body = line.match(/^asks ({.*)/)?.[1];
    const { username, project_id } = JSON.parse(body ?? "{}");
    assert(!body || project_id === SEEDED.project_id, line);
    const did = body ? `asks ${username}` : line.replace(/: $/, ": nothing");
    played.at(-1)?.push(did);
  }
  return played.map(([step, ...calls]) =>
    [step, calls.join("; ")].filter(Boolean).join(" -> ")
  );
}
