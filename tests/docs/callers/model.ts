import { resultOf } from "../../support/openapi.ts";
import { START_S, World } from "./histories.ts";

/** Goes through a history by the contract's rules for callers' code, as plainly as they can be written. */
export function playModel(lines: string[]): Promise<string[]> {
  const world = new World();
  let now = 0;
  let clock = START_S;
  /** It waits until then: for a response, or for the end of a pause. */
  let asking:
    | { name: string; pauseS: number; until: number; isSent: boolean }
    | undefined;

  const ask = (name: string) => {
    asking = { name, pauseS: 5, until: now, isSent: false };
    goOn();
  };
  const goOn = () => {
    if (!asking || asking.isSent) return decide("off");
    world.say(`asks ${asking.name}`);
    Object.assign(asking, { isSent: true, until: now + 10 });
    if (world.service !== "silent") decide(world.service);
  };
  const decide = (status: string) => {
    if (!asking?.isSent) return;
    const { name, pauseS } = asking;
    const result = resultOf(status);
    const until = now + pauseS;
    const next = { name, pauseS: Math.min(2 * pauseS, 600), until };
    asking = result === "no answer" ? { ...next, isSent: false } : undefined;

    const second = Math.floor(clock + now);
    const { storage, stored } = world;
    const isOwn = storage !== "broken" && stored.replace(/^\d+ /, "") === name;
    const age = isOwn ? second - Number(stored.split(" ")[0]) : NaN;
    if (storage === "fine") {
      if (result === "active") world.stored = `${second} ${name}`;
      if (result === "inactive" && isOwn) world.stored = "";
    }
    const isRecent = 0 <= age && age < 14 * 24 * 60 * 60;
    const unlocks = result === "active" ||
      (result !== "inactive" && isRecent);
    try {
      world.callBack(unlocks ? "unlock" : `lock ${result}`, ask);
    } catch {
      asking = undefined;
      world.say("error");
    }
  };
  const passTo = (second: number) => {
    while (asking && asking.until <= second) {
      now = asking.until;
      goOn();
    }
    now = second;
  };
  return world.play(lines, passTo, {
    ask,
    answer: decide,
    clock: (step) => clock += Number(step),
    stop: () => asking = undefined,
  });
}
