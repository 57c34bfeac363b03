/** How the connections to the Data API are replaced. */
import { assertEquals } from "@std/assert";
import { pool } from "../../supabase/functions/check-username-active/data_api.ts";

Deno.test("connections: the old ones are closed once there are fresh ones, and stay when there can be none", () => {
  const { createHttpClient } = Deno;
  const done: string[] = [];
  let made = 0;
  Deno.createHttpClient = () => {
    if (made === 2) throw new TypeError("createHttpClient is not a function");
    const name = ++made;
    done.push(`make ${name}`);
    return { close: () => done.push(`close ${name}`) } as never;
  };
  try {
    pool.replace();
    pool.replace();
    const { current } = pool;
    pool.replace();
    assertEquals(pool.current, current);
    assertEquals(done, ["make 1", "make 2", "close 1"]);
  } finally {
    Deno.createHttpClient = createHttpClient;
  }
});
