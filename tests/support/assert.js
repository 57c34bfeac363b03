// @ts-self-types="./assert.d.ts"
/** `@std/assert` from npm's `deno-std`, a third party's copy without types: see `assert.d.ts`. */
export * from "deno-std/assert";
