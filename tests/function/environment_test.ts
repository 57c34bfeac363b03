/** What the function needs from its environment, and what it says when that is not there. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  readSecretKey,
  readSupabaseUrl,
} from "../../supabase/functions/check-username-active/environment.ts";
import {
  BootError,
  startFunction,
} from "../../tools/stack/function_process.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { until } from "../support/start_process.ts";

const URL_NAME = "SUPABASE_URL";
const KEYS_NAME = "SUPABASE_SECRET_KEYS";
const LEGACY_NAME = "SUPABASE_SERVICE_ROLE_KEY";

/** Calls something with these variables set, and the others of the three not. */
function withEnv<Result>(env: Record<string, string>, call: () => Result) {
  for (const name of [URL_NAME, KEYS_NAME, LEGACY_NAME]) {
    if (env[name] === undefined) Deno.env.delete(name);
    else Deno.env.set(name, env[name]);
  }
  return call();
}

for (
  const [read, names, values, others] of [
    [readSupabaseUrl, [URL_NAME], [
      "",
      "s3cr3t",
      "postgres://s3cr3t@h/db",
      "http://user:s3cr3t@127.0.0.1:9",
      "http://s3cr3t@127.0.0.1:9",
      "http://127.0.0.1:9?key=s3cr3t",
      "http://127.0.0.1:9/?",
      "http://127.0.0.1:9#s3cr3t",
      "http://127.0.0.1:9/#",
    ], {}],
    [readSecretKey, [LEGACY_NAME, KEYS_NAME], ["", "s3cr3t\n"], {}],
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
      `{"default":"s3cr3t "}`,
    ], { [LEGACY_NAME]: "x" }],
  ] as const
) {
  const [name] = names;
  Deno.test(`environment: a malformed ${name} is refused by its name, and nothing else is said of it`, () => {
    for (const value of values) {
      const env = { ...others, [name]: value };
      const { message } = assertThrows(() => withEnv(env, read), Error);
      for (const name of names) assert(message.includes(name), message);
      assert(!message.includes("s3cr3t"), message);
    }
  });
}

Deno.test("environment: without any variable, the message names those that are needed", () => {
  const without = (read: () => string) => () => withEnv({}, read);
  assertThrows(without(readSupabaseUrl), Error, URL_NAME);
  assertThrows(without(readSecretKey), Error, `${KEYS_NAME} or ${LEGACY_NAME}`);
});

Deno.test("environment: the key is the one named default, or else the first, or else the legacy one", () => {
  for (
    const [keys, legacy, used] of [
      [`{"default":"x"}`, "y", "x"],
      [`{"a":"y","default":"x","z":"y"}`, "y", "x"],
      [`{"b":"x","a":"y"}`, "y", "x"],
      ["", "x", "x"],
      ["{}", "x", "x"],
    ] as const
  ) {
    const env = { [KEYS_NAME]: keys, [LEGACY_NAME]: legacy };
    assertEquals(withEnv(env, readSecretKey), used, keys);
  }
  assertEquals(withEnv({ [LEGACY_NAME]: "x" }, readSecretKey), "x");
  const address = "https://abcdefghijklmnopqrst.supabase.co";
  assertEquals(withEnv({ [URL_NAME]: address }, readSupabaseUrl), address);
});

Deno.test("environment: what is refused stops the boot", async () => {
  const { output, exitCode } = await assertRejects(
    () => startFunction({ env: { [KEYS_NAME]: "s3cr3t" } }),
    BootError,
  );
  assertEquals(exitCode, 1);
  assert(output.includes(URL_NAME) && !output.includes("s3cr3t"), output);
});

Deno.test("environment: the function's process inherits nothing but what the operating system needs", async () => {
  await using printer = await makeTempFolder();
  await Deno.writeTextFile(
    new URL("index.ts", printer.url),
    `console.log("env:", JSON.stringify(Deno.env.toObject()), ".");
     export default { fetch: () => new Response() };`,
  );
  await Deno.writeTextFile(new URL("deno.json", printer.url), "{}");
  Deno.env.set("NOT_GIVEN", "x");
  // Windows has it.
  const SystemRoot = Deno.env.get("SystemRoot") ?? "C:\\Windows";
  Deno.env.set("SystemRoot", SystemRoot);
  await using edgeFunction = await startFunction({
    env: { GIVEN: "x" },
    folder: printer.url,
  });
  const printed = () => edgeFunction.output().match(/env: (.*) \./)?.[1];
  await until(() => printed() !== undefined, edgeFunction.output);
  const has: Record<string, string> = JSON.parse(printed() ?? "");
  assertEquals(has.GIVEN, "x");
  assertEquals(has.SystemRoot, SystemRoot);
  assertEquals(has.NOT_GIVEN, undefined);
  // Deno sets some itself, such as a PATH, and Wine does.
  for (const name of ["HOME", "USERPROFILE", "PATH", "TEMP", "API_URL"]) {
    const own = Deno.env.get(name);
    assert(own === undefined || has[name] !== own, `${name} is inherited`);
  }
});
