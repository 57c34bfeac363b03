/** What the function reads from its environment, and what it rejects. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  readSecretKey,
  readSupabaseUrl,
} from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/stack/function_process.ts";

const URL_NAME = "SUPABASE_URL";
const KEYS_NAME = "SUPABASE_SECRET_KEYS";
const LEGACY_NAME = "SUPABASE_SERVICE_ROLE_KEY";

/** The variables, and malformed values. */
const REJECTED: Record<string, string[]> = {
  [URL_NAME]: ["ftp://a", "http://s3cr3t@a", "http://a?", "http://a#"],
  [KEYS_NAME]: ["s3cr3t", '["s3cr3t"]', '{"a":""}', '{"a":7}', '{"a":"x "}'],
  [LEGACY_NAME]: ["", "s3cr3t\n"],
};

function readIn(env: Record<string, string>, read: () => string): string {
  for (const name in REJECTED) Deno.env.delete(name);
  for (const variable of Object.entries(env)) Deno.env.set(...variable);
  return read();
}

for (const [name, values] of Object.entries(REJECTED)) {
  Deno.test(`environment: a missing or malformed ${name} is named, its value is not`, () => {
    const read = name === URL_NAME ? readSupabaseUrl : readSecretKey;
    for (const value of values) {
      // Malformed keys count, although the legacy key is sound. (Its own row has `value` instead.)
      const env = { [LEGACY_NAME]: "x", [name]: value };
      const { message } = assertThrows(() => readIn(env, read), Error, name);
      assert(!message.includes("s3cr3t"), message);
    }
    assertThrows(() => readIn({}, read), Error, name);
  });
}

/** Values of `SUPABASE_SECRET_KEYS`, and the key to use. The legacy one is "y". */
const KEYS = [
  [`{"a":"z","default":"x","z":"z"}`, "x"],
  [`{"b":"x","a":"z"}`, "x"],
  ["{}", "y"],
  ["", "y"],
] as const;

Deno.test("environment: the key named default counts, else the first, else the legacy one", () => {
  for (const [keys, key] of KEYS) {
    const env = { [KEYS_NAME]: keys, [LEGACY_NAME]: "y" };
    assertEquals(readIn(env, readSecretKey), key, keys);
  }
  assertEquals(readIn({ [LEGACY_NAME]: "y" }, readSecretKey), "y");
  const url = "https://abcdefghijklmnopqrst.supabase.co";
  assertEquals(readIn({ [URL_NAME]: url }, readSupabaseUrl), url);
});

Deno.test("environment: a variable that is rejected stops the boot", async () => {
  const start = () => startFunction("http://s3cr3t\n:9");
  const { message } = await assertRejects(start, Error, URL_NAME);
  assert(!message.includes("s3cr3t"), message);
});
