/** Time that stands still, and passes only when a test lets it. */
import FakeTimers from "@sinonjs/fake-timers";
import { setImmediate } from "node:timers";

/** Stops the clocks and timers of this process. Disposing of the result puts the real ones back. */
export function stopTime() {
  const timers = FakeTimers.install({
    toFake: ["Date", "performance", "setTimeout", "clearTimeout"],
  });
  return {
    /** Lets milliseconds pass. After each timer, everything that waited for it runs on. */
    async pass(ms: number) {
      let isOver = false;
      setTimeout(() => isOver = true, ms);
      do {
        await new Promise((resolve) => setImmediate(resolve));
        timers.next();
      } while (!isOver);
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** Sets the wall clock, as an operator or NTP does. */
    setWallClock: (ms: number) => timers.setSystemTime(ms),
    /** Returns how many timers are set. */
    timerCount: () => timers.countTimers(),
    [Symbol.dispose]: () => timers.uninstall(),
  };
}
