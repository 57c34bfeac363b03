// Types of what the tests use of `@std/assert`. Its documentation says what each function does.

type Comparison<A, E> = (actual: A, expected: E, msg?: string) => void;
type ErrorClass<E> = abstract new (...args: never[]) => E;

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
export const assertStringIncludes: Comparison<string, string>;
export const assertMatch: Comparison<string, RegExp>;
export const assertNotMatch: Comparison<string, RegExp>;
export function assertThrows<E extends Error>(
  fn: () => unknown,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
): E;
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
): Promise<E>;
