/** panel.js keeps the page's rules in random scenarios, in exact time. */
import { assert } from "@std/assert";
import * as fc from "fast-check";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { PANEL, play, startProgram } from "./scenarios.ts";

const DAY_S = 24 * 60 * 60;
const EVENTS = "ask Amelia,ask Bessie,stop,clock -86500,clock 60,clock 1123200,"
  .concat("service 200,service 400,service 499,service off,service silent,")
  .concat("answer 200,answer 400,answer 499,answer 500").split(",");
const STEPS = fc.array(
  fc.tuple(fc.constantFrom(1, 4, 11, 400), fc.constantFrom(...EVENTS)),
);

Deno.test("clients: panel.js keeps the rules", async () => {
  await using folder = await makeTempFolder();
  const cwd = fileURLToPath(folder.url);
  using panel = await startProgram(PANEL, cwd);
  const keepsRules = fc.asyncProperty(STEPS, async (steps) => {
    let second = 0.5;
    const lines = steps.map(([pause, event]) => `${second += pause} ${event}`);
    lines.unshift("0 stop; stored 1999999 Amelia; service 200");
    const played = await play(panel, `${cwd}/panel.txt`, lines);

    let clockS = 2_000_000;
    let user = "";
    let stored = "1999999 Amelia";
    for (const [nth, line] of played.entries()) {
      const [happened = "", did = ""] = line.split(" -> ");
      const [start = "", event, about = ""] = happened.split(" ");
      const end = parseFloat(played[nth + 1] ?? start);
      if (event === "clock") clockS += Number(about);
      if (event === "ask") user = about;
      if (event === "stop") user = "";
      const isValid = (second: number) => {
        const ageS = Math.floor(clockS + second) - parseInt(stored);
        const isRecent = -DAY_S <= ageS && ageS < 14 * DAY_S;
        return isRecent && stored.endsWith(` ${user}`);
      };
      const isUnlocked = event === "ask" && isValid(Number(start));
      assert(!isUnlocked || did.startsWith("unlock"), line);
      for (const call of did.split("; ").filter(Boolean)) {
        const [what = "", entry = stored] = call.split(": ");
        stored = entry;
        const validAt = [Number(start), end].filter(isValid);
        const isRight = what === "unlock"
          ? validAt.length > 0
          : what === "lock inactive"
          ? !stored.endsWith(` ${user}`)
          : what.startsWith("lock")
          ? validAt.length < 2
          : what === `asks ${user}`;
        assert(user && isRight, `${call} in ${line}`);
      }
    }
  });
  await fc.assert(keepsRules, { numRuns: 300 });
});
