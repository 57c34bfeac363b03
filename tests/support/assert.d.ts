// Types of what the tests use of `@std/assert`, as its documentation has them.

type Comparison<A, E> = (actual: A, expected: E, msg?: string) => void;
type ErrorClass<E> = abstract new (...args: never[]) => E;

/** Throws an `AssertionError` unless the expression is truthy. */
export function assert(expr: unknown, msg?: string): asserts expr;

/** Throws unless the two are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;

/** Throws unless the array contains all of the others. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void;

/** Throws unless the text contains the other. */
export const assertStringIncludes: Comparison<string, string>;

/** Throws unless the expression matches the text. */
export const assertMatch: Comparison<string, RegExp>;

/** Throws if the expression matches the text. */
export const assertNotMatch: Comparison<string, RegExp>;

/** Throws unless the function throws such an error, and returns that. */
export function assertThrows<E extends Error>(
  fn: () => unknown,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
): E;

/** Throws unless the promise is rejected with such an error, and returns that. */
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ErrorClass<E>,
  msgIncludes?: string,
): Promise<E>;
