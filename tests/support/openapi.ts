import { assert, assertArrayIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { FUNCTION_PATH } from "../../tools/project.ts";
import { OPENAPI, readPage } from "./pages.ts";

/** A response, as `openapi.yaml` describes it. */
interface Described {
  "x-result"?: string;
  headers?: Record<string, { schema: { const?: string } }>;
  content?: object;
}

const { paths } = parse(await readPage(OPENAPI));
const responses: Record<string, Described> =
  paths[FUNCTION_PATH].post.responses;

/** The statuses that `openapi.yaml` names. */
export const DESCRIBED = Object.keys(responses).map(Number)
  .filter((status) => status > 0);

/** What a status asks of an add-on. */
export const resultOf = (status: number | string) =>
  described(Number(status))["x-result"] ?? "no answer";

/** What `openapi.yaml` says of a status: of the function's own, or of what others send. */
export function described(status: number): Described {
  return responses[status] ?? responses.default ?? {};
}

/**
 * Fails unless `openapi.yaml` describes this response of the function, whose body is this text. Preflights
 * are not in it: they are for browsers.
 */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  if (status === 204) return;
  assert(DESCRIBED.includes(status), `openapi.yaml: no ${status}`);
  const { headers = {}, content } = described(status);
  for (const [name, { schema }] of Object.entries(headers)) {
    const value = response.headers.get(name);
    assert(value && value === (schema.const ?? value), `${name}: ${value}`);
  }
  // A response to HEAD has no body.
  if (!text) return;
  const bodies = JSON.stringify(content ?? null)
    .matchAll(/"(?:example|value)":(\{.*?\})/g)
    .map(([, body = ""]) => body).toArray();
  assertArrayIncludes(bodies, [text], "openapi.yaml");
}
