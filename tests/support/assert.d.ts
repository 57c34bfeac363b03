// Types of what the tests use of `@std/assert`. Its documentation says what each function does.

type Comparison<A, E> = (actual: A, expected: E, msg?: string) => void;
type Failure<F, R> = (fn: F, errorClass: typeof Error, includes: string) => R;

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export const assertStringIncludes: Comparison<string, string>;
export const assertMatch: Comparison<string, RegExp>;
export const assertRejects: Failure<() => Promise<unknown>, Promise<Error>>;
