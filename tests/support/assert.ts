/** `@std/assert`, with types: a third party's copy on npm, because JSR is not always in reach. */
import * as std from "deno-std/assert";

export const assert: (expr: unknown, msg?: string) => asserts expr = std.assert;
export const assertEquals: <T>(actual: T, expected: T, msg?: string) => void = std.assertEquals;
type Comparison<E> = (actual: string, expected: E, msg?: string) => void;
export const assertStringIncludes: Comparison<string> = std.assertStringIncludes;
export const assertMatch: Comparison<RegExp> = std.assertMatch;
type Rejection = (fn: () => Promise<unknown>, error: typeof Error, text: string) => Promise<Error>;
export const assertRejects: Rejection = std.assertRejects;
