// Types of what the tests use of `@std/assert`, as its documentation has them.

/** Throws an `AssertionError` unless the expression is truthy. */
export function assert(expr: unknown, msg?: string): asserts expr;

/** Throws unless the two are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void;

/** Throws if the two are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;

/** Throws unless the text contains the other. */
export function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void;

/** Throws unless the array contains all of the others. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void;

/** Throws unless the expression matches the text. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;

/** Throws if the expression matches the text. */
export function assertNotMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;

/** Throws unless the function throws such an error, and returns that. */
export function assertThrows<E extends Error>(
  fn: () => unknown,
  ErrorClass: abstract new (...args: never[]) => E,
  msgIncludes?: string,
): E;

/** Throws unless the promise is rejected with such an error, and returns that. */
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: abstract new (...args: never[]) => E,
  msgIncludes?: string,
): Promise<E>;
