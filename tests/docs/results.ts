import {
  ACTIVE,
  METHOD_NOT_ALLOWED,
  MISSING,
  NOT_FOUND,
  TOO_LARGE,
} from "../support/answers.ts";
import { readPage } from "../support/pages.ts";

/** Statuses that an add-on may get: from the function, the platform, or something on the way. */
export const STATUSES = [
  ...[200, 201, 204, 302, 307, 400, 401, 402, 403, 404, 405, 407, 408, 413],
  ...[429, 499, 500, 502, 503, 504, 520, 540, 544, 546],
];

const MISTAKES = [MISSING, METHOD_NOT_ALLOWED, TOO_LARGE];

/** What a status asks of an add-on: the contract's rule, in the words that the pages use. */
export function resultOf(status: number): string {
  if (status === ACTIVE.status) return "active";
  if (status === NOT_FOUND.status) return "inactive";
  if (MISTAKES.some((mistake) => mistake.status === status)) return "mistake";
  return "no answer";
}

/** Reads from the table of `README.md` what each status asks of an add-on. */
export async function resultsOfReadme(): Promise<(status: number) => string> {
  const rows = (await readPage("README.md"))
    .matchAll(/^\| ([^|]+?) +\|.*\| `"([a-z ]+)"` +\|/gm)
    .map(([, statuses = "", result = ""]) => ({ statuses, result })).toArray();
  return (status) => {
    const [row, ...others] = rows.filter(({ statuses }) =>
      statuses.includes(`${status}`)
    );
    if (others.length > 0) throw new Error(`README.md has ${status} twice`);
    const other = rows.find(({ statuses }) => statuses.startsWith("Any other"));
    return (row ?? other)?.result ?? "README.md has no such row";
  };
}
