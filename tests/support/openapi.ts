import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { FUNCTION_FOLDER, FUNCTION_PATH as PATH } from "../../tools/project.ts";

interface Responses {
  [status: string]: {
    "x-result"?: string;
    headers?: Record<string, object>;
    content?: Record<string, unknown>;
  };
}

const document = parse(
  await Deno.readTextFile(new URL("openapi.yaml", FUNCTION_FOLDER)),
);
const ajv = new Ajv2020({ strict: false }).addSchema(document, "openapi");

/** Reads from `openapi.yaml` what a status asks of an add-on. */
export function resultOfOpenapi(status: number): string | undefined {
  const responses: Responses = document.paths[PATH].post.responses;
  return (responses[status] ?? responses.default)?.["x-result"];
}

/** The messages of `openapi.yaml`, each as often as it is there. */
export function messagesOfOpenapi(): unknown[] {
  const schemas: { properties: { error?: Message & { oneOf?: Message[] } } }[] =
    Object.values(document.components.schemas);
  return schemas.flatMap(({ properties: { error } }) =>
    error?.oneOf ?? error ?? []
  ).map((message) => message.const);
}

interface Message {
  const?: string;
}

/**
 * Fails unless `openapi.yaml` describes this answer: its status, its headers and its body.
 *
 * @param response The answer.
 * @param text Its body.
 */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  const operation = status === 204 ? "options" : "post";
  const responses: Responses = document.paths[PATH][operation].responses;
  const described = responses[status];
  // It also describes what others send: 429, and anything else as `default`.
  if (!described?.headers?.["Cache-Control"]) {
    throw new Error(`openapi.yaml does not know ${status} of the function`);
  }

  const at = `#/paths/${encode(PATH)}/${operation}/responses/${status}`;
  for (const name of Object.keys(described.headers ?? {})) {
    const header = document.components.headers[name] ??
      described.headers?.[name];
    const value = response.headers.get(name);
    assert(
      value !== null && ajv.validate(header.schema, value),
      `${name}: ${value} does not match openapi.yaml for ${status}`,
    );
  }

  // An answer to HEAD has no body.
  if (text === "") return;
  assert(described.content, `openapi.yaml knows no body for ${status}`);
  const schema = `openapi${at}/content/${encode("application/json")}/schema`;
  assert(
    ajv.validate(schema, JSON.parse(text)),
    `The body does not match openapi.yaml for ${status}: ${text}`,
  );
}

/** Writes a name as one step of a JSON pointer in a URL. */
function encode(name: string): string {
  return name.replaceAll("/", "~1");
}
