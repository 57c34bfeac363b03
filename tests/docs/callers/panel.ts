import { stopTime } from "../../support/exact_time.ts";
import { START_S, World } from "./histories.ts";

/** Goes through a history with panel.js, in time that passes at once. */
export async function playPanel(code: string, lines: string[]) {
  using time = stopTime();
  const startMs = performance.now();
  time.setWallClock(START_S * 1_000);
  const world = new World();
  const waiting: ((status: string) => void)[] = [];

  /** Its bodies never come. It follows redirects, as a browser does. */
  class XMLHttpRequest {
    readyState = 0;
    status = 0;
    responseURL = "";
    onreadystatechange: (() => void) | null = null;
    open(_method: string, url: string) {
      this.responseURL = url;
    }
    send(body: string) {
      world.say(`asks ${body}`);
      const respond = (status: string) => {
        const isRedirect = /^3/.test(status);
        this.status = isRedirect ? 200 : Number(status) || 0;
        if (isRedirect) this.responseURL += "/";
        this.readyState = 2;
        this.onreadystatechange?.();
      };
      if (world.service === "silent") waiting.push(respond);
      else queueMicrotask(() => respond(world.service));
    }
    abort() {}
  }

  const panel = new Function(
    ...["XMLHttpRequest", "GetStoredData", "SetStoredData", "console"],
    `${code}; return activation;`,
  )(
    XMLHttpRequest,
    () => {
      if (world.storage === "broken") throw new Error("Cannot be read");
      return world.stored;
    },
    (_name: string, text: string) => {
      if (world.storage !== "fine") throw new Error("Cannot be written");
      world.stored = text;
    },
    { error: () => {} },
  );
  const ask = (name: string) => {
    const callBack = (what: string) => world.callBack(what, ask);
    panel.keepAsking(
      name,
      () => callBack("unlock"),
      (result: string) => callBack(`lock ${result}`),
    ).catch(() => world.say("error"));
  };
  return await world.play(
    lines,
    (second) => time.pass(startMs + second * 1_000 - performance.now()),
    {
      ask,
      answer(status) {
        for (const respond of waiting.splice(0)) respond(status);
      },
      clock: (step) => time.setWallClock(Date.now() + Number(step) * 1_000),
    },
  );
}
