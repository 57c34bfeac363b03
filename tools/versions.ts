/** Versions of what npx runs, here and on the pages. Dependabot does not watch this file. */
export const VERSIONS = {
  deno: "2.9.6",
  /** The hosted edge runtime's version of Deno. */
  edgeDeno: "2.1.4",
  supabase: "3.1.0",
};
