/** Plays scenarios, such as those of `scenarios.txt`, to the code for callers. */
import { assertEquals } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { readPage } from "../support/pages.ts";

export const SCENARIOS = await readPage("supabase/clients/scenarios.txt");

/**
 * Plays the lines of a scenario. Returns them with what the code did after each.
 *
 * `run` gets events: those of `scenarios.txt`; `until SECOND`, which time passes to; and
 * `print TEXT`. It returns lines: TEXT, and what the code did. Instead of `asks NAME`, it may say
 * `asks BODY`. Other lines are logs.
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
  const played: { step: string; did: string[] }[] = [];
  for (const line of await run(events.filter(Boolean))) {
    const body = line.match(/^asks ({.*)/)?.[1];
    if (/^\d/.test(line)) played.push({ step: line, did: [] });
    else if (body) {
      const { username, project_id } = JSON.parse(body);
      assertEquals(project_id, SEEDED.project_id);
      played.at(-1)?.did.push(`asks ${username}`);
    } else if (/^(asks|unlock|lock|error)/.test(line)) {
      played.at(-1)?.did.push(line.replace(/: $/, ": nothing"));
    }
  }
  return played.map(({ step, did }) =>
    [step, did.join("; ")].filter(Boolean).join(" -> ")
  );
}
