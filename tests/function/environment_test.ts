/** What the function needs from its environment, and what it says when that is not there. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ACTIVE } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { until } from "../support/start_process.ts";
import {
  BootError,
  startFunction,
  systemEnv,
} from "../../tools/stack/function_process.ts";
import { keys, startDataApiStub } from "../support/data_api_stub.ts";

const ADDRESS = { SUPABASE_URL: "http://127.0.0.1:9" };
const KEYS = { SUPABASE_SECRET_KEYS: `{"default":"sb_secret_s3cr3t"}` };
const LEGACY = { SUPABASE_SERVICE_ROLE_KEY: "legacy-s3cr3t" };

type Env = Record<string, string>;

/** What is wrong, and the variable that the message has to name. */
const REFUSED: [name: string, env: Env, variable: string][] = [
  ["no variable at all", {}, "SUPABASE_URL"],
  ["no address", KEYS, "SUPABASE_URL"],
  ...[
    "",
    "s3cr3t",
    "postgres://s3cr3t@h/db",
    "http://user:s3cr3t@127.0.0.1:9",
    "http://s3cr3t@127.0.0.1:9",
    "http://127.0.0.1:9?key=s3cr3t",
    "http://127.0.0.1:9/?",
    "http://127.0.0.1:9#s3cr3t",
    "http://127.0.0.1:9/#",
  ].map((value): [string, Env, string] => [
    `an address that is "${value}"`,
    { ...KEYS, SUPABASE_URL: value },
    "SUPABASE_URL",
  ]),
  // The message names the legacy variable, too.
  ...["SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY"].map((
    variable,
  ): [string, Env, string] => ["no key", ADDRESS, variable]),
  ...["", "s3cr3t\n"].map((value): [string, Env, string] => [
    `a legacy key that is ${JSON.stringify(value)}`,
    { ...ADDRESS, SUPABASE_SERVICE_ROLE_KEY: value },
    "SUPABASE_SERVICE_ROLE_KEY",
  ]),
  // Malformed keys are not read as "no keys": the legacy key does not save them.
  ...[
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
  ].map((value): [string, Env, string] => [
    `keys that are ${value}`,
    { ...ADDRESS, ...LEGACY, SUPABASE_SECRET_KEYS: value },
    "SUPABASE_SECRET_KEYS",
  ]),
];

for (const [name, env, variable] of REFUSED) {
  Deno.test(`environment: ${name} stops the boot and names ${variable}`, async () => {
    const { output, exitCode } = await assertRejects(
      () => startFunction({ env }),
      BootError,
    );
    assertEquals(exitCode, 1);
    assert(output.includes(variable), output);
    assert(!output.includes("s3cr3t"), output);
  });
}

/** Which key is used: the legacy one only where `SUPABASE_SECRET_KEYS` has none. */
const USED: [name: string, env: Env, key: string][] = [
  ["the secret key", { ...KEYS, ...LEGACY }, "sb_secret_s3cr3t"],
  ["the key named default among others", {
    SUPABASE_SECRET_KEYS: `{"a":"x","default":"sb_secret_y","z":"x"}`,
  }, "sb_secret_y"],
  ["the first key, where none is named default", {
    ...LEGACY,
    SUPABASE_SECRET_KEYS: `{"b":"x","a":"y"}`,
  }, "x"],
  ["the legacy key, where there is no other", LEGACY, "legacy-s3cr3t"],
  ...["", "{}"].map((value): [string, Env, string] => [
    `the legacy key, where the others are "${value}"`,
    { ...LEGACY, SUPABASE_SECRET_KEYS: value },
    "legacy-s3cr3t",
  ]),
];

for (const [name, env, key] of USED) {
  Deno.test(`environment: ${name} is what the Data API gets`, async () => {
    await using dataApi = startDataApiStub(keys());
    await using edgeFunction = await startFunction({
      env: { SUPABASE_URL: dataApi.url, ...env },
    });
    const response = check(crypto.randomUUID(), "Amelia", edgeFunction.url);
    await assertAnswer(response, ACTIVE);
    const [request = ""] = dataApi.requests;
    const header = (name: string) =>
      request.match(RegExp(`^${name}: (.*)\r$`, "im"))?.[1];
    assertEquals(header("apikey"), key);
    assertEquals(header("authorization"), `Bearer ${key}`);
  });
}

Deno.test("environment: the function's process inherits nothing but what the operating system needs", async () => {
  const env = (names: Record<string, string>) => ({
    get: (name: string) => names[name],
  });
  const all = env({ SystemRoot: "C:\\Windows", PATH: "x", HOME: "x" });
  assertEquals(systemEnv("windows", all), { SystemRoot: "C:\\Windows" });
  assertEquals(systemEnv("windows", env({})), {});
  assertEquals(systemEnv("linux", all), {});
  assertEquals(systemEnv("darwin", all), {});

  await using printer = await makeTempFolder();
  await Deno.writeTextFile(
    new URL("index.ts", printer.url),
    `console.log("env:", JSON.stringify(Deno.env.toObject()), ".");
     export default { fetch: () => new Response() };`,
  );
  await Deno.writeTextFile(new URL("deno.json", printer.url), "{}");
  Deno.env.set("NOT_GIVEN", "x");
  await using edgeFunction = await startFunction({
    env: { GIVEN: "x" },
    folder: printer.url,
  });
  const printed = () => edgeFunction.output().match(/env: (.*) \./)?.[1];
  await until(() => printed() !== undefined, edgeFunction.output);
  const has: Record<string, string> = JSON.parse(printed() ?? "");
  assertEquals(has.GIVEN, "x");
  assertEquals(has.NOT_GIVEN, undefined);
  // Deno sets some itself, such as a PATH, and Wine does.
  for (const name of ["HOME", "USERPROFILE", "PATH", "TEMP", "API_URL"]) {
    const own = Deno.env.get(name);
    assert(own === undefined || has[name] !== own, `${name} is inherited`);
  }
});
