// @ts-self-types="./assert.d.ts"
/** `@std/assert` from npm's `deno-std`, which has no types: `assert.d.ts` declares them. */
export * from "deno-std/assert";
