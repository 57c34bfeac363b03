/**
 * What the function reads from its environment, and what it rejects. In a value that is rejected,
 * `s3cr3t` stands for a secret, which no error may quote.
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as environment from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/function_process.ts";

/** Values of `SUPABASE_URL`, which is the base of an address. Without `reads`, it is rejected. */
const URLS = [
  { when: "an address", value: "https://a.supabase.co", reads: "https://a.supabase.co" },
  { when: "empty", value: "" },
];

for (const { when, value, reads } of URLS) {
  Deno.test(`environment: SUPABASE_URL is ${when} → it is ${reads ? "read" : "rejected"}`, () => {
    Deno.env.set("SUPABASE_URL", value);
    if (reads) return assertEquals(environment.readSupabaseUrl(), reads);
    assertRejected(environment.readSupabaseUrl, "SUPABASE_URL must");
  });
}

const MALFORMED = "SUPABASE_SECRET_KEYS must";
/** Values of `SUPABASE_SECRET_KEYS`, and of `SUPABASE_SERVICE_ROLE_KEY`, which has a legacy key. */
const SECRET_KEYS = [
  // The platform lists all secret keys of the project. The one named "default" counts.
  { when: "has a default", keys: '{"a":"first","default":"main"}', legacy: "old", reads: "main" },
  // Without a default, the first key counts, in the order of the JSON.
  { when: "has no default", keys: '{"b":"first","a":"second"}', legacy: "old", reads: "first" },
  // Without a secret key, the legacy key counts.
  { when: "has no key", keys: "{}", legacy: "old", reads: "old" },
  { when: "is empty", keys: "", legacy: "old", reads: "old" },
  // Malformed keys are rejected. The legacy key is not used in their place.
  { when: "is no JSON", keys: "s3cr3t", legacy: "old", error: MALFORMED },
  { when: "has an empty key", keys: '{"a":""}', legacy: "old", error: MALFORMED },
  // In a header, the blank would be cut off, and then another key would be sent.
  { when: "has a key ending in a blank", keys: '{"a":"s3cr3t "}', legacy: "old", error: MALFORMED },
  {
    when: "is empty, and the legacy key ends in a line break",
    keys: "",
    legacy: "s3cr3t\n",
    error: "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY must",
  },
];

for (const { when, keys, legacy, reads, error } of SECRET_KEYS) {
  const result = reads ? `the key "${reads}" is read` : "it is rejected";
  Deno.test(`environment: SUPABASE_SECRET_KEYS ${when} → ${result}`, () => {
    Deno.env.set("SUPABASE_SECRET_KEYS", keys);
    Deno.env.set("SUPABASE_SERVICE_ROLE_KEY", legacy);
    if (reads) return assertEquals(environment.readSecretKey(), reads);
    assertRejected(environment.readSecretKey, error!);
  });
}

/** Fails unless reading throws an error that says this and does not quote the secret. */
function assertRejected(read: () => string, error: string) {
  const { message } = assertThrows(read, Error, error);
  assert(!message.includes("s3cr3t"), message);
}

Deno.test("environment: a rejected variable stops the function's start, and its value is not printed", async () => {
  const start = () => startFunction("ftp://s3cr3t"); // This is its SUPABASE_URL.
  const { message } = await assertRejects(start, Error, "SUPABASE_URL must");
  assert(!message.includes("s3cr3t"), message);
});
