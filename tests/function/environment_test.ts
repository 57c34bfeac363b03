/**
 * What the function reads from its environment, and what it rejects. In a value that is rejected,
 * `s3cr3t` stands for a password or a key, which no error may quote.
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as environment from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/function_process.ts";

/** Values of `SUPABASE_URL`. Without `reads`, the value is rejected. */
const URLS = [
  { when: "an address", value: "https://a.supabase.co", reads: "https://a.supabase.co" },
  { when: "empty", value: "" },
  { when: "an address of FTP", value: "ftp://s3cr3t" },
  { when: "an address with a password", value: "http://s3cr3t@a" },
  { when: "an address with a query", value: "http://a?s3cr3t" },
];

for (const { when, value, reads } of URLS) {
  Deno.test(`environment: SUPABASE_URL is ${when} → it is ${reads ? "read" : "rejected"}`, () => {
    Deno.env.set("SUPABASE_URL", value);
    if (reads) return assertEquals(environment.readSupabaseUrl(), reads);
    assertRejected(environment.readSupabaseUrl, "SUPABASE_URL must");
  });
}

/** Values of `SUPABASE_SECRET_KEYS` and `SUPABASE_SERVICE_ROLE_KEY`. */
const SECRET_KEYS = [
  { when: "a key is named default", keys: '{"a":"k1","default":"k2"}', legacy: "old", reads: "k2" },
  // Without a default, the first key counts, in the order of the JSON.
  { when: "no key is named default", keys: '{"b":"k1","a":"k2"}', legacy: "old", reads: "k1" },
  { when: "SUPABASE_SECRET_KEYS has no key", keys: "{}", legacy: "old", reads: "old" },
  { when: "SUPABASE_SECRET_KEYS is empty", keys: "", legacy: "old", reads: "old" },
  // Keys that are malformed stop the start. The legacy key is not used in their place.
  { when: "the keys are no JSON", keys: "s3cr3t", legacy: "old" },
  { when: "a key is empty", keys: '{"a":""}', legacy: "old" },
  { when: "a key has a blank behind it", keys: '{"a":"s3cr3t "}', legacy: "old" },
  { when: "the legacy key has a line break behind it", keys: "", legacy: "s3cr3t\n" },
];

for (const { when, keys, legacy, reads } of SECRET_KEYS) {
  const result = reads ? `the key "${reads}" is read` : "the start is refused";
  Deno.test(`environment: ${when} → ${result}`, () => {
    Deno.env.set("SUPABASE_SECRET_KEYS", keys);
    Deno.env.set("SUPABASE_SERVICE_ROLE_KEY", legacy);
    if (reads) return assertEquals(environment.readSecretKey(), reads);
    const names = keys
      ? "SUPABASE_SECRET_KEYS"
      : "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY";
    assertRejected(environment.readSecretKey, `${names} must`);
  });
}

/** Fails unless reading throws an error that says this, and contains no value of a variable. */
function assertRejected(read: () => string, error: string) {
  const { message } = assertThrows(read, Error, error);
  assert(!message.includes("s3cr3t"), message);
}

Deno.test("environment: a rejected variable stops the function's start, and its value is not printed", async () => {
  const start = () => startFunction("http://s3cr3t@a");
  const { message } = await assertRejects(start, Error, "SUPABASE_URL must");
  assert(!message.includes("s3cr3t"), message);
});
