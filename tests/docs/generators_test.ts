/** Generators make clients of `openapi.yaml` whose types tell a 499 from the failures. */
import { assert } from "@std/assert";
import { run } from "../../tools/command.ts";
import { FUNCTION_PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { OPENAPI, readPage } from "../support/pages.ts";

/** The commands that generate clients, and how an add-on asks each. */
const CLIENTS = {
  "openapi-typescript openapi.yaml -o client.ts --root-types --root-types-no-schema-prefix":
    `import createClient from "openapi-fetch";
    type All = API.paths["${FUNCTION_PATH}"]["post"]["responses"];
    type Bodies = { [S in keyof All]: All[S]["content"]["application/json"] };
    const ask = async (body: API.ActivationCheck) =>
      told<Bodies>(await createClient<API.paths>().POST("${FUNCTION_PATH}", { body }));`,
  "openapi-ts -i openapi.yaml -o client":
    `type Bodies = API.CheckUsernameActiveResponses & API.CheckUsernameActiveErrors;
    const ask = async (body: API.ActivationCheck) => told<Bodies>(await API.checkUsernameActive({ body }));`,
  "orval -i openapi.yaml -o client.ts --client fetch --fail-on-warnings":
    "const ask = API.checkUsernameActive;",
};

const COMPILE =
  "tsc add_on.ts --noEmit --strict --target es2022 --module preserve";

/** What an add-on makes of a response. Only a 499 is a `NotActive`. */
const ADD_ON = `
import * as API from "./client";
type Told<Bodies> = { [S in keyof Bodies]: { status: S, data: Bodies[S] } }[keyof Bodies];
const told = <Bodies>(of: { [part in "data" | "error"]?: Bodies[keyof Bodies] } & { response?: Response }) =>
  ({ status: of.response?.status, data: of.data ?? of.error }) as Told<Bodies>;
export async function check(user: API.ActivationCheck): Promise<boolean | string | undefined> {
  const { status, data } = await ask(user);
  switch (status) {
    case 200: return (data satisfies API.Active).success;
    case 499: return (data satisfies API.NotActive).error;
    case 400: case 405: case 413:
      // @ts-expect-error: a mistake does not say that the user is not active.
      data satisfies API.NotActive;
      return (data satisfies API.Mistake).error;
    default:
      // @ts-expect-error: neither does no answer.
      data satisfies API.NotActive;
      return (data satisfies API.NoAnswer).error;
  }
}
`;

for (const [generate, ask] of Object.entries(CLIENTS)) {
  Deno.test(`openapi: the client of ${generate}`, async () => {
    await using folder = await makeTempFolder();
    const write = (name: string, text: string) =>
      Deno.writeTextFile(new URL(name, folder.url), text);
    await write("openapi.yaml", await readPage(OPENAPI));
    await write("add_on.ts", ADD_ON + ask);
    const { generators: dependencies, generatorsDate } = VERSIONS;
    // Deno runs all of it: two of the generators want a newer Node than this project. Nothing that they
    // import may be newer than themselves.
    const install =
      `deno install -q --minimum-dependency-age=${generatorsDate}`;
    const scripts = {
      make: `${install} && ${generate} && ${COMPILE}`,
    };
    await write("package.json", JSON.stringify({ dependencies, scripts }));
    const options = { cwd: folder.url };
    const made = await run(Deno.execPath(), ["task", "-q", "make"], options);
    assert(made.success, made.stdout + made.stderr);
  });
}
