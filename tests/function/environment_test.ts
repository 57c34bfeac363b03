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

type Value = string | undefined;
type Env = Record<string, Value>;

/** Sets only these of the three variables. Disposing of the result sets them as they were. */
function setEnv(env: Env): Disposable {
  const before = Deno.env.toObject();
  for (const name of [URL_NAME, KEYS_NAME, LEGACY_NAME]) {
    if (env[name] === undefined) Deno.env.delete(name);
    else Deno.env.set(name, env[name]);
  }
  return { [Symbol.dispose]: () => void setEnv(before) };
}

/** A reader, the variables that its message names, and values of the first that it rejects. */
type Rejection = [read: () => string, named: string[], values: Value[]];

const REJECTIONS: Rejection[] = [
  [readSupabaseUrl, [URL_NAME], [
    undefined,
    "",
    "s3cr3t",
    "postgres://s3cr3t/db",
    "http://user:s3cr3t@127.0.0.1:9",
    "http://127.0.0.1:9/?",
    "http://127.0.0.1:9#s3cr3t",
    "http://127.0.0.1:9/#",
    "http://127.0.0.1\n:9",
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
      using _env = setEnv({ [LEGACY_NAME]: "x", [name]: value });
      const { message } = assertThrows(read, Error);
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
    using _env = setEnv(env);
    assertEquals(readSecretKey(), "x", JSON.stringify(env));
  }
});

Deno.test("environment: the address of a hosted project is accepted", () => {
  const address = "https://abcdefghijklmnopqrst.supabase.co";
  using _env = setEnv({ [URL_NAME]: address });
  assertEquals(readSupabaseUrl(), address);
});

Deno.test("environment: a variable that is rejected stops the boot", async () => {
  const start = () => startFunction({ env: { [URL_NAME]: "s3cr3t" } });
  const { message } = await assertRejects(start, Error, URL_NAME);
  assert(!message.includes("s3cr3t"), message);
});
