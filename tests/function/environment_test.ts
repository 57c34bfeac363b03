/** What the function reads from its environment, and what it rejects. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as environment from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/function_process.ts";

const url = (url: string) => ({ SUPABASE_URL: url });
const keys = (keys: string, legacyKey = "y") => ({
  SUPABASE_SECRET_KEYS: keys,
  SUPABASE_SERVICE_ROLE_KEY: legacyKey,
});
const NO_KEY = "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY must";

/** The environment; what is read, or how the error begins. */
const ROWS: [Record<string, string>, result: string][] = [
  [url("https://example.supabase.co"), "https://example.supabase.co"],
  [url(""), "SUPABASE_URL must"],
  [url("ftp://s3cr3t"), "SUPABASE_URL must"],
  [url("http://s3cr3t@a"), "SUPABASE_URL must"],
  [url("http://a?s3cr3t"), "SUPABASE_URL must"],
  [keys('{"a":"z","default":"x"}'), "x"],
  [keys('{"b":"x","a":"z"}'), "x"],
  [keys("{}"), "y"],
  [keys(""), "y"],
  [keys("s3cr3t"), "SUPABASE_SECRET_KEYS must"],
  [keys('{"a":""}'), "SUPABASE_SECRET_KEYS must"],
  [keys('{"a":"s3cr3t "}'), "SUPABASE_SECRET_KEYS must"],
  [keys("", "s3cr3t\n"), NO_KEY],
];

for (const [env, result] of ROWS) {
  Deno.test(`environment: ${JSON.stringify(env)} → ${result}`, () => {
    for (const variable of Object.entries(env)) Deno.env.set(...variable);
    const name = "SUPABASE_URL" in env ? "readSupabaseUrl" : "readSecretKey";
    const read = environment[name];
    if (!result.endsWith(" must")) return assertEquals(read(), result);
    const { message } = assertThrows(read, Error, result);
    assert(!message.includes("s3cr3t"), message);
  });
}

Deno.test("environment: what is rejected stops the boot, and no value is printed", async () => {
  const start = () => startFunction("http://s3cr3t@a");
  const { message } = await assertRejects(start, Error, "SUPABASE_URL must");
  assert(!message.includes("s3cr3t"), message);
});
