/** What a status asks of an add-on: the contract's rule, in the words that the pages use. */
export const RESULTS: Record<number, string> = {
  200: "active",
  499: "inactive",
  400: "mistake",
  405: "mistake",
  413: "mistake",
};

/** Gives that for any status. */
export const resultOf = (status: number) => RESULTS[status] ?? "no answer";

/** Statuses that an add-on may get: from the function, the platform, or something on the way. */
export const STATUSES = [
  ...[200, 201, 204, 302, 307, 400, 401, 402, 403, 404, 405, 407, 408, 413],
  ...[429, 499, 500, 502, 503, 504, 520, 540, 544, 546],
];
