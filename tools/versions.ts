/** Versions of the npm packages that tests and tools run. Dependabot does not watch this file. */
export const VERSIONS = {
  /** The hosted edge runtime's version of Deno. */
  edgeDeno: "2.1.4",
  supabase: "3.1.0",
  acorn: "8.19.0",
};
