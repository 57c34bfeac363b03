import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { Ajv2020 } from "ajv/dist/2020.js";
import { FUNCTION_FOLDER, FUNCTION_PATH } from "../../tools/project.ts";

/** A response, as `openapi.yaml` describes it. */
interface Described {
  "x-result"?: string;
  headers?: Record<string, object>;
  content?: { "application/json": { schema: object } };
}

const { paths, components } = parse(
  await Deno.readTextFile(new URL("openapi.yaml", FUNCTION_FOLDER)),
);
const { post, options } = paths[FUNCTION_PATH];
const responses: Record<string, { $ref: string }> = {
  ...options.responses,
  ...post.responses,
};

/** The statuses that `openapi.yaml` names. */
export const DESCRIBED = Object.keys(responses).map(Number)
  .filter((status) => status > 0);

/** What `openapi.yaml` says of a status: of the function's own, or of what others send. */
export function described(status: number): Described {
  const { $ref } = responses[status] ?? post.responses.default;
  return components.responses[$ref.replace("#/components/responses/", "")];
}

const ajv = new Ajv2020({ strict: false });

/** Fails unless `openapi.yaml` describes this response of the function, whose body is this text. */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  assert(DESCRIBED.includes(status), `openapi.yaml: no ${status}`);
  const { headers = {}, content } = described(status);
  const validate = (
    what: string,
    value: unknown,
    schema: object | false = false,
  ) =>
    assert(
      ajv.validate(schema, value),
      `openapi.yaml: ${what} of ${status}: ${JSON.stringify(value)}`,
    );
  for (const [name, header] of Object.entries(headers)) {
    const { schema } = components.headers[name] ?? header;
    validate(name, response.headers.get(name), schema);
  }
  // A response to HEAD has no body.
  if (text === "") return;
  validate("body", JSON.parse(text), content?.["application/json"].schema);
}
