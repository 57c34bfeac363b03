import { assert } from "@std/assert";
import { parse } from "@std/yaml";
import { FUNCTION_URL_PATH } from "../../tools/project.ts";
import { OPENAPI, readPage } from "./pages.ts";

/** A response, as `openapi.yaml` describes it. */
interface ResponseDescription {
  "x-result"?: string;
  headers?: Record<string, { example?: string }>;
  content?: object;
}

const { paths } = parse(await readPage(OPENAPI));
const responses: Record<string, ResponseDescription> =
  paths[FUNCTION_URL_PATH].post.responses;

/** The statuses of the function that `openapi.yaml` describes. */
export const DESCRIBED_STATUSES = Object.keys(responses).map(Number)
  .filter(Number.isInteger);

/** Returns what a status means to an add-on: `x-result` in `openapi.yaml`. */
export const resultOf = (status: number | string) =>
  descriptionOf(Number(status))["x-result"] ?? "no answer";

/** Returns what `openapi.yaml` says of a status: one of the function's, or any other. */
export function descriptionOf(status: number): ResponseDescription {
  return responses[status] ?? responses.default ?? {};
}

/**
 * Fails unless `openapi.yaml` describes this response of the function, with this text as its body.
 * Preflights pass: browsers send them, so the file leaves them out.
 */
export function assertDescribed(response: Response, text: string): void {
  const { status } = response;
  if (status === 204) return;
  assert(DESCRIBED_STATUSES.includes(status), `openapi.yaml: no ${status}`);
  const { headers = {}, content } = descriptionOf(status);
  for (const [name, { example }] of Object.entries(headers)) {
    const value = response.headers.get(name);
    assert(value && value === (example ?? value), `${name}: ${value}`);
  }
  // A response to HEAD has no body.
  if (!text) return;
  const examples = JSON.stringify(content ?? null);
  assert(examples.includes(`:${text}`), `openapi.yaml: no ${text}`);
}
