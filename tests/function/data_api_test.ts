/** How the connections to the Data API are replaced, in exact time. */
import { assertEquals } from "@std/assert";
import { LIMITS } from "../support/contract.ts";
import { stopTime } from "../support/exact_time.ts";

Deno.test("connections: new ones are made before the old ones are closed, at most once in 5 s", async () => {
  using time = stopTime();
  using restore = new DisposableStack();
  restore.adopt(Deno.createHttpClient, (it) => Deno.createHttpClient = it);
  const calls: string[] = [];
  let canMake = true;
  let made = 0;
  Deno.createHttpClient = (options) => {
    if (!canMake) throw new TypeError("createHttpClient is not a function");
    const name = ++made;
    calls.push(`make ${name}`);
    assertEquals(options, { poolIdleTimeout: LIMITS.idleMs });
    return { close: () => calls.push(`close ${name}`) } as never;
  };
  const { replaceConnections } = await import(
    "../../supabase/functions/check-username-active/data_api.ts"
  );
  assertEquals(calls.splice(0), ["make 1"]);
  // The first replacement may come at any time.
  replaceConnections();
  assertEquals(calls.splice(0), ["make 2", "close 1"]);
  await time.pass(LIMITS.keptMs - 1);
  replaceConnections();
  assertEquals(calls, []);
  await time.pass(1);
  canMake = false;
  replaceConnections();
  assertEquals(calls, []);
  canMake = true;
  replaceConnections();
  assertEquals(calls, ["make 3", "close 2"]);
});
