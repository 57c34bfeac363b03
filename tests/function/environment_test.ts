/** What the function needs from its environment, and what it says when that is not there. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  readSecretKey,
  readSupabaseUrl,
} from "../../supabase/functions/check-username-active/environment.ts";
import { startFunction } from "../../tools/stack/function_process.ts";

const URL_NAME = "SUPABASE_URL";
const KEYS_NAME = "SUPABASE_SECRET_KEYS";
const LEGACY_NAME = "SUPABASE_SERVICE_ROLE_KEY";

/** Calls something with these variables set, and the others of the three not. */
function withEnv<Result>(
  env: Record<string, string | undefined>,
  call: () => Result,
) {
  for (const name of [URL_NAME, KEYS_NAME, LEGACY_NAME]) {
    if (env[name] === undefined) Deno.env.delete(name);
    else Deno.env.set(name, env[name]);
  }
  return call();
}

for (
  const [read, names, values, others] of [
    [readSupabaseUrl, [URL_NAME], [
      undefined,
      "",
      "s3cr3t",
      "postgres://s3cr3t@h/db",
      "http://user:s3cr3t@127.0.0.1:9",
      "http://127.0.0.1:9/?",
      "http://127.0.0.1:9#s3cr3t",
      "http://127.0.0.1:9/#",
    ], {}],
    [readSecretKey, [LEGACY_NAME, KEYS_NAME], [undefined, "", "s3cr3t\n"], {}],
    // Malformed keys are not read as "no keys": the legacy key does not save them.
    [readSecretKey, [KEYS_NAME], [
      "s3cr3t",
      `{"default":"s3cr3t"`,
      `"s3cr3t"`,
      `["s3cr3t"]`,
      "null",
      `{"default":""}`,
      `{"default":null}`,
      `{"default":["s3cr3t"]}`,
      `{"backend":"s3cr3t "}`,
      `{"backend":{"key":"s3cr3t"}}`,
    ], { [LEGACY_NAME]: "x" }],
  ] as const
) {
  const [name] = names;
  Deno.test(`environment: a missing or malformed ${name} is refused by its name, and nothing else is said of it`, () => {
    for (const value of values) {
      const env = { ...others, [name]: value };
      const { message } = assertThrows(() => withEnv(env, read), Error);
      for (const name of names) assert(message.includes(name), message);
      assert(!message.includes("s3cr3t"), message);
    }
  });
}

Deno.test("environment: the key is the one named default, or else the first, or else the legacy one", () => {
  for (
    const [keys, legacy, used] of [
      [`{"default":"x"}`, "y", "x"],
      [`{"a":"y","default":"x","z":"y"}`, "y", "x"],
      [`{"b":"x","a":"y"}`, "y", "x"],
      ["", "x", "x"],
      ["{}", "x", "x"],
      [undefined, "x", "x"],
    ] as const
  ) {
    const env = { [KEYS_NAME]: keys, [LEGACY_NAME]: legacy };
    assertEquals(withEnv(env, readSecretKey), used, keys);
  }
  const address = "https://abcdefghijklmnopqrst.supabase.co";
  assertEquals(withEnv({ [URL_NAME]: address }, readSupabaseUrl), address);
});

Deno.test("environment: what is refused stops the boot", async () => {
  const env = { [KEYS_NAME]: "s3cr3t" };
  const start = () => startFunction({ env });
  const { message } = await assertRejects(start, Error, URL_NAME);
  assert(!message.includes("s3cr3t"), message);
});
