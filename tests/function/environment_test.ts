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

type Env = Record<string, string | undefined>;

/** Sets these variables, and removes the rest of the three. */
function setEnv(env: Env): void {
  for (const name of [URL_NAME, KEYS_NAME, LEGACY_NAME]) {
    if (env[name] === undefined) Deno.env.delete(name);
    else Deno.env.set(name, env[name]);
  }
}

/** Calls a function with only these of the three variables, and then sets them as they were. */
function withEnv<Result>(env: Env, call: () => Result) {
  const before = Deno.env.toObject();
  setEnv(env);
  try {
    return call();
  } finally {
    setEnv(before);
  }
}

/** A reader, the variables that its message names, and values of the first one that it rejects. */
type Rejection = [
  read: () => string,
  named: string[],
  values: (string | undefined)[],
];

const REJECTIONS: Rejection[] = [
  [readSupabaseUrl, [URL_NAME], [
    undefined,
    "",
    "s3cr3t",
    "postgres://s3cr3t@h/db",
    "http://user:s3cr3t@127.0.0.1:9",
    "http://127.0.0.1:9/?",
    "http://127.0.0.1:9#s3cr3t",
    "http://127.0.0.1:9/#",
  ]],
  [readSecretKey, [LEGACY_NAME, KEYS_NAME], [undefined, "", "s3cr3t\n"]],
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
  ]],
];

for (const [read, named, values] of REJECTIONS) {
  const [name = ""] = named;
  Deno.test(`environment: a missing or malformed ${name} is rejected by its name, without its value`, () => {
    for (const value of values) {
      // A sound legacy key does not replace malformed keys.
      const env = { [LEGACY_NAME]: "x", [name]: value };
      const { message } = assertThrows(() => withEnv(env, read), Error);
      for (const name of named) assert(message.includes(name), message);
      assert(!message.includes("s3cr3t"), message);
    }
  });
}

/** Environments in which the key to use is "x". */
const ENVS_WITH_X: Env[] = [
  { [KEYS_NAME]: `{"default":"x"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: `{"a":"y","default":"x","z":"y"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: `{"b":"x","a":"y"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: "", [LEGACY_NAME]: "x" },
  { [KEYS_NAME]: "{}", [LEGACY_NAME]: "x" },
  { [LEGACY_NAME]: "x" },
];

Deno.test("environment: the key is the one named default, or else the first, or else the legacy one", () => {
  for (const env of ENVS_WITH_X) {
    assertEquals(withEnv(env, readSecretKey), "x", JSON.stringify(env));
  }
  const address = "https://abcdefghijklmnopqrst.supabase.co";
  assertEquals(withEnv({ [URL_NAME]: address }, readSupabaseUrl), address);
});

Deno.test("environment: a variable that is rejected stops the boot", async () => {
  const env = { [KEYS_NAME]: "s3cr3t" };
  const start = () => startFunction({ env });
  const { message } = await assertRejects(start, Error, URL_NAME);
  assert(!message.includes("s3cr3t"), message);
});
