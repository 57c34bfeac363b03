import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { FUNCTION_FOLDER, FUNCTION_PATH } from "../../tools/project.ts";

/** A response, as `openapi.yaml` describes it. */
interface Described {
  "x-result"?: string;
  headers?: Record<string, object>;
  content?: {
    "application/json": {
      schema: { properties: { error?: Message } };
      example?: { error?: string };
      examples?: Record<string, { value: { error: string } }>;
    };
  };
}

interface Message {
  const?: string;
  oneOf?: Message[];
}

const { paths, components } = parse(
  await Deno.readTextFile(new URL("openapi.yaml", FUNCTION_FOLDER)),
);
const { post, options, "x-other-methods": others } = paths[FUNCTION_PATH];
const responses: Record<string, Described & { $ref?: string }> = {
  ...options.responses,
  ...others.responses,
  ...post.responses,
};

/** The statuses that `openapi.yaml` names. */
export const DESCRIBED = Object.keys(responses).map(Number)
  .filter((status) => status > 0);

/** What `openapi.yaml` says of a status: of the function's own, or of what others send. */
export function described(status: number): Described {
  const response = responses[status] ?? responses.default ?? {};
  const name = response.$ref?.replace("#/components/responses/", "");
  return name ? components.responses[name] : response;
}

const ajv = new Ajv2020({ strict: false });

/**
 * Fails unless `openapi.yaml` describes this answer: its status, its headers and its body.
 *
 * @param response The answer.
 * @param text Its body.
 */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  const { headers = {}, content } = described(status);
  // What others send is described as well, as `default`.
  assert(
    headers["Cache-Control"],
    `openapi.yaml: no ${status} of the function`,
  );
  for (const [name, header] of Object.entries(headers)) {
    const { schema } = components.headers[name] ?? header;
    const value = response.headers.get(name);
    assert(
      value !== null && ajv.validate(schema, value),
      `openapi.yaml: ${name} of ${status}: ${value}`,
    );
  }
  // An answer to HEAD has no body.
  if (text === "") return;
  const schema = content?.["application/json"].schema;
  assert(
    schema && ajv.validate(schema, JSON.parse(text)),
    `openapi.yaml: body of ${status}: ${text}`,
  );
}
