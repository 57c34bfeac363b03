/** What the function reads from its environment, and what it rejects. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as environment from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/function_process.ts";

/** Values of `SUPABASE_URL`, and what is read. Without `reads`, the value is rejected. */
const URLS: { value: string; reads?: string }[] = [
  { value: "https://example.supabase.co", reads: "https://example.supabase.co" },
  { value: "" },
  { value: "ftp://s3cr3t" },
  { value: "http://s3cr3t@a" },
  { value: "http://a?s3cr3t" },
];

for (const { value, reads } of URLS) {
  const result = reads ? `read as ${reads}` : "rejected";
  Deno.test(`environment: SUPABASE_URL=${value} is ${result}`, () => {
    Deno.env.set("SUPABASE_URL", value);
    if (reads) return assertEquals(environment.readSupabaseUrl(), reads);
    assertRejected(environment.readSupabaseUrl, "SUPABASE_URL must");
  });
}

/** Values of both variables with keys; and the key that is read, or what the error says. */
const KEYS: {
  keys: string;
  legacyKey: string;
  reads?: string;
  error?: string;
}[] = [
  { keys: '{"a":"z","default":"x"}', legacyKey: "y", reads: "x" },
  { keys: '{"b":"x","a":"z"}', legacyKey: "y", reads: "x" },
  { keys: "{}", legacyKey: "y", reads: "y" },
  { keys: "", legacyKey: "y", reads: "y" },
  { keys: "s3cr3t", legacyKey: "y", error: "SUPABASE_SECRET_KEYS must" },
  { keys: '{"a":""}', legacyKey: "y", error: "SUPABASE_SECRET_KEYS must" },
  { keys: '{"a":"s3cr3t "}', legacyKey: "y", error: "SUPABASE_SECRET_KEYS must" },
  {
    keys: "",
    legacyKey: "s3cr3t\n",
    error: "SUPABASE_SECRET_KEYS or SUPABASE_SERVICE_ROLE_KEY must",
  },
];

for (const { keys, legacyKey, reads, error } of KEYS) {
  const given = `SUPABASE_SECRET_KEYS=${keys} beside the legacy key ` +
    JSON.stringify(legacyKey);
  Deno.test(`environment: ${given} is ${reads ? `read as ${reads}` : "rejected"}`, () => {
    Deno.env.set("SUPABASE_SECRET_KEYS", keys);
    Deno.env.set("SUPABASE_SERVICE_ROLE_KEY", legacyKey);
    if (reads) return assertEquals(environment.readSecretKey(), reads);
    assertRejected(environment.readSecretKey, error!);
  });
}

/** Fails unless the error says this, and contains no value of a variable. */
function assertRejected(read: () => string, error: string) {
  const { message } = assertThrows(read, Error, error);
  assert(!message.includes("s3cr3t"), message);
}

Deno.test("environment: a rejected variable stops the function's start, and its value is not printed", async () => {
  const start = () => startFunction("http://s3cr3t@a");
  const { message } = await assertRejects(start, Error, "SUPABASE_URL must");
  assert(!message.includes("s3cr3t"), message);
});
