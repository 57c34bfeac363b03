// @ts-self-types="./assert.d.ts"
/** `@std/assert` of npm's `deno-std`, which has no types: with those of what the tests use. */
export * from "deno-std/assert";
