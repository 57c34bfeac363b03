/** How the connections to the Data API are replaced, in exact time. */
import { assertEquals } from "@std/assert";
import { LIMITS } from "../support/contract.ts";
import { stopTime } from "../support/exact_time.ts";

Deno.test("connections: new ones are made before the old ones are closed, at most once in 5 s", async () => {
  const { createHttpClient } = Deno;
  using time = stopTime();
  const done: string[] = [];
  let canMake = true;
  let made = 0;
  Deno.createHttpClient = (options) => {
    if (!canMake) throw new TypeError("createHttpClient is not a function");
    const name = ++made;
    done.push(`make ${name}`);
    assertEquals(options, { poolIdleTimeout: LIMITS.idleMs });
    return { close: () => done.push(`close ${name}`) } as never;
  };
  try {
    const { replaceConnections } = await import(
      "../../supabase/functions/check-username-active/data_api.ts"
    );
    assertEquals(done.splice(0), ["make 1"]);
    // The first failure can come at any time.
    replaceConnections();
    assertEquals(done.splice(0), ["make 2", "close 1"]);
    await time.pass(LIMITS.replacedMs - 1);
    replaceConnections();
    assertEquals(done, []);
    await time.pass(1);
    canMake = false;
    replaceConnections();
    assertEquals(done, []);
    canMake = true;
    replaceConnections();
    assertEquals(done, ["make 3", "close 2"]);
  } finally {
    Deno.createHttpClient = createHttpClient;
  }
});
