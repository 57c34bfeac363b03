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

/** Sets these variables, and no other of the three. */
function setEnv(env: Record<string, string>): void {
  for (const name of [URL_NAME, KEYS_NAME, LEGACY_NAME]) {
    if (env[name] === undefined) Deno.env.delete(name);
    else Deno.env.set(name, env[name]);
  }
}

/** Calls a function with these variables set, and then sets them as they were. */
function withEnv<Result>(env: Record<string, string>, call: () => Result) {
  const before = Deno.env.toObject();
  setEnv(env);
  try {
    return call();
  } finally {
    setEnv(before);
  }
}

/** A reader, the variables that its message names, and values of the first one that it rejects. */
interface Rejection {
  read: () => string;
  named: string[];
  values: string[];
  others?: Record<string, string>;
}

const REJECTIONS: Rejection[] = [
  {
    read: readSupabaseUrl,
    named: [URL_NAME],
    values: [
      "",
      "s3cr3t",
      "postgres://s3cr3t@h/db",
      "http://user:s3cr3t@127.0.0.1:9",
      "http://127.0.0.1:9/?",
      "http://127.0.0.1:9#s3cr3t",
      "http://127.0.0.1:9/#",
    ],
  },
  {
    read: readSecretKey,
    named: [LEGACY_NAME, KEYS_NAME],
    values: ["", "s3cr3t\n"],
  },
  {
    read: readSecretKey,
    named: [KEYS_NAME],
    values: [
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
    ],
    // Malformed keys are not read as "no keys": the legacy key does not save them.
    others: { [LEGACY_NAME]: "x" },
  },
];

for (const { read, named, values, others = {} } of REJECTIONS) {
  const [name = ""] = named;
  Deno.test(`environment: a missing or malformed ${name} is rejected by its name, without its value`, () => {
    for (const value of values) {
      const env = { ...others, [name]: value };
      const { message } = assertThrows(() => withEnv(env, read), Error);
      for (const name of named) assert(message.includes(name), message);
      assert(!message.includes("s3cr3t"), message);
    }
  });
}

Deno.test("environment: a variable that is not set is missing", () => {
  assertThrows(() => withEnv({}, readSupabaseUrl), Error, URL_NAME);
  assertThrows(() => withEnv({}, readSecretKey), Error, LEGACY_NAME);
});

/** The values of the keys and of the legacy key. The key that is used is always "x". */
const USED: Record<string, string>[] = [
  { [KEYS_NAME]: `{"default":"x"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: `{"a":"y","default":"x","z":"y"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: `{"b":"x","a":"y"}`, [LEGACY_NAME]: "y" },
  { [KEYS_NAME]: "", [LEGACY_NAME]: "x" },
  { [KEYS_NAME]: "{}", [LEGACY_NAME]: "x" },
  { [LEGACY_NAME]: "x" },
];

Deno.test("environment: the key is the one named default, or else the first, or else the legacy one", () => {
  for (const env of USED) {
    assertEquals(withEnv(env, readSecretKey), "x", JSON.stringify(env));
  }
  const address = "https://abcdefghijklmnopqrst.supabase.co";
  assertEquals(withEnv({ [URL_NAME]: address }, readSupabaseUrl), address);
});

Deno.test("environment: what is rejected stops the boot", async () => {
  const env = { [KEYS_NAME]: "s3cr3t" };
  const start = () => startFunction({ env });
  const { message } = await assertRejects(start, Error, URL_NAME);
  assert(!message.includes("s3cr3t"), message);
});
