/** The clock that everything in the function waits by. */
import { assert, assertEquals } from "@std/assert";
import {
  now,
  within,
} from "../../supabase/functions/check-username-active/clock.ts";
import { stopTime } from "../support/exact_time.ts";

/** Something that never comes. */
const never = new Promise<never>(() => {});

Deno.test("clock: a wait lasts at least as long as it says, and up to two ticks longer, on one timer", async () => {
  using time = stopTime();
  // The clock goes on all the while.
  within(60_000, never);
  for (let ms = 0; ms < 1_000; ms += 30) {
    // Somewhere between two ticks.
    await time.pass(70);
    const beganAt = performance.now();
    let tookMs = Infinity;
    within(ms, never).then(() => tookMs = performance.now() - beganAt);
    await time.pass(ms + 200);
    assert(tookMs >= ms && tookMs <= ms + 100, `${tookMs} for ${ms}`);
    assertEquals(time.running(), 1);
  }
  await time.pass(60_000);
  assertEquals(time.running(), 0);
});

Deno.test("clock: whatever the isolate's own pauses, and the wall clock, a wait lasts its time", async () => {
  using time = stopTime();
  let hasEnded = false;
  within(5_000, never).then(() => hasEnded = true);
  for (let passed = 0; passed < 4_000; passed += 1_000) {
    await time.pass(1_000);
    time.setWallClock(1e12 * Math.random());
    time.standStill(60_000);
  }
  assert(!hasEnded);
  await time.pass(1_000);
  assert(hasEnded);
  await time.pass(100);
});

Deno.test("clock: it counts the time in which nothing is waited for", async () => {
  using time = stopTime();
  const before = now();
  await time.pass(60_000);
  assertEquals(Math.round((now() - before) / 1_000), 60);
  await time.pass(100);
});
