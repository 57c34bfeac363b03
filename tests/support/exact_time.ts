/** Time that stands still, and passes when a test says so. */
import FakeTimers from "@sinonjs/fake-timers";
import { setImmediate } from "node:timers";

/** Stops every clock and timer of this process. Disposing of it gives the real ones back. */
export function stopTime() {
  const timers = FakeTimers.install({
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  return {
    /** Lets time pass, in milliseconds. After each timer, everything goes on that waited for it. */
    async pass(ms: number) {
      let isOver = false;
      setTimeout(() => isOver = true, ms);
      do {
        await new Promise((settled) => setImmediate(settled));
        timers.next();
      } while (!isOver);
      await new Promise((settled) => setImmediate(settled));
    },
    /** Sets the wall clock, as an operator or NTP does. */
    setWallClock: (ms: number) => timers.setSystemTime(ms),
    /** How many timers run. */
    running: () => timers.countTimers(),
    [Symbol.dispose]: () => timers.uninstall(),
  };
}
