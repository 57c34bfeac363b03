import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { FUNCTION_FOLDER, FUNCTION_PATH as PATH } from "../../tools/project.ts";

interface Described {
  $ref?: string;
  "x-result"?: string;
  headers?: Record<string, object>;
  content?: {
    "application/json": {
      schema: { properties: { error?: Message & { oneOf?: Message[] } } };
      example?: { error?: string };
      examples?: Record<string, { value: { error: string } }>;
    };
  };
}

interface Message {
  const?: string;
}

const document = parse(
  await Deno.readTextFile(new URL("openapi.yaml", FUNCTION_FOLDER)),
);
const ajv = new Ajv2020({ strict: false });

const { post, options, "x-other-methods": others } = document.paths[PATH];
/** What an add-on may get. No POST gets a 405, but one that follows a redirect may become a GET. */
const ADD_ON: Record<string, Described> = {
  ...others.responses,
  ...post.responses,
};
/** What the function sends, and by `default` what others send. */
const ALL: Record<string, Described> = { ...options.responses, ...ADD_ON };

/** What is said of a status, in the document or where that refers to. */
function described(responses: typeof ALL, status: number): Described {
  const response = responses[status] ?? responses.default ?? {};
  const name = response.$ref?.replace("#/components/responses/", "");
  return name ? document.components.responses[name] : response;
}

/** Reads from `openapi.yaml` what a status asks of an add-on. */
export function resultOfOpenapi(status: number): string | undefined {
  return described(ADD_ON, status)["x-result"];
}

/** The errors of `openapi.yaml`: once as their schemas have them, once as its examples do. */
export function errorsOfOpenapi() {
  const statuses = Object.keys(ALL).map(Number).filter((status) =>
    status >= 400
  );
  const errors = (of: (content: Described["content"]) => unknown[]) =>
    statuses.flatMap((status) =>
      of(described(ALL, status).content).map((error) => ({ status, error }))
    );
  return {
    schemas: errors((content) => {
      const error = content?.["application/json"].schema.properties.error;
      return (error?.oneOf ?? [error]).map((message) => message?.const);
    }),
    examples: errors((content) => {
      const { example, examples = {} } = content?.["application/json"] ?? {};
      const all = Object.values(examples).map(({ value }) => value);
      return [...all, ...(example ? [example] : [])].map(({ error }) => error);
    }),
  };
}

/**
 * Fails unless `openapi.yaml` describes this answer: its status, its headers and its body.
 *
 * @param response The answer.
 * @param text Its body.
 */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  const { headers = {}, content } = described(ALL, status);
  // What others send is described as well, as `default`.
  if (!headers["Cache-Control"]) {
    throw new Error(`openapi.yaml does not know ${status} of the function`);
  }

  for (const [name, header] of Object.entries(headers)) {
    const { schema } = document.components.headers[name] ?? header;
    const value = response.headers.get(name);
    assert(
      value !== null && ajv.validate(schema, value),
      `${name}: ${value} does not match openapi.yaml for ${status}`,
    );
  }

  // An answer to HEAD has no body.
  if (text === "") return;
  if (!content) throw new Error(`openapi.yaml knows no body for ${status}`);
  assert(
    ajv.validate(content["application/json"].schema, JSON.parse(text)),
    `The body does not match openapi.yaml for ${status}: ${text}`,
  );
}
