/** Generators make clients of `openapi.yaml` whose types tell a 499 from the failures. */
import { assert } from "@std/assert";
import { run } from "../../tools/command.ts";
import { FUNCTION_URL_PATH } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { OPENAPI, readPage } from "../support/pages.ts";

/** The commands that generate clients; how each asks, and a type with the bodies by status. */
const CLIENTS = {
  "openapi-typescript openapi.yaml -o client.ts --root-types --root-types-no-schema-prefix":
    `import createClient from "openapi-fetch";
    export const ask = (body: API.ActivationCheck) =>
      createClient<API.paths>().POST("${FUNCTION_URL_PATH}", { body });
    type All = API.paths["${FUNCTION_URL_PATH}"]["post"]["responses"];
    type Bodies = { [S in keyof All]: All[S]["content"]["application/json"] };`,
  "openapi-ts -i openapi.yaml -o client":
    `export const ask = (body: API.ActivationCheck) => API.checkUsernameActive({ body });
    type Bodies = API.CheckUsernameActiveResponses & API.CheckUsernameActiveErrors;`,
  "orval -i openapi.yaml -o client.ts --client fetch --fail-on-warnings":
    `export const ask = (body: API.ActivationCheck) => API.checkUsernameActive(body);
    type Told = Awaited<ReturnType<typeof ask>>;
    type Bodies = { [T in Told as T["status"]]: T["data"] };`,
};

/** What an add-on makes of the bodies. Only that of a 499 is a `NotActive`. */
const ADD_ON = `
import * as API from "./client";
type Mistakes = Bodies[400 | 405 | 413];
type NoAnswers = Bodies[Exclude<keyof Bodies, 200 | 499 | 400 | 405 | 413>];
export const isActive = (body: Bodies[200]): true => (body satisfies API.Active).success;
export const inactive = (body: Bodies[499]): API.NotActive => body;
export const mistake = (body: Mistakes): API.Mistake => body;
export const noAnswer = (body: NoAnswers): API.NoAnswer => body;
// @ts-expect-error: a mistake does not say that the user is not active.
export const inactiveByMistake = (body: Mistakes): API.NotActive => body;
// @ts-expect-error: neither does no answer.
export const inactiveWithoutAnswer = (body: NoAnswers): API.NotActive => body;
`;

for (const [generate, ask] of Object.entries(CLIENTS)) {
  Deno.test(`openapi: the client of ${generate}`, async () => {
    const { generators: dependencies, generatorsDate } = VERSIONS;
    // Deno runs all of it: two of the generators want a newer Node than this project.
    const make = `deno install -q --minimum-dependency-age=${generatorsDate} ` +
      `&& ${generate} && tsc add_on.ts --noEmit --strict --target es2022 --module preserve`;
    await using folder = await makeTempFolder({
      "openapi.yaml": await readPage(OPENAPI),
      "add_on.ts": ADD_ON + ask,
      "package.json": JSON.stringify({ dependencies, scripts: { make } }),
    });
    const options = { cwd: folder.url };
    const made = await run(Deno.execPath(), ["task", "-q", "make"], options);
    assert(made.success, made.stdout + made.stderr);
  });
}
