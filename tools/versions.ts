/** The versions of what npm runs for this project. Dependabot does not watch this file. */
export const VERSIONS = {
  /** The hosted edge runtime's version of Deno. */
  edgeDeno: "2.1.4",
  supabase: "3.1.0",
  /** Redocly CLI, which lints `openapi.yaml`. */
  redocly: "2.77.0",
  /** Generators of clients of `openapi.yaml`, and the newest TypeScript that they all take. */
  generators: {
    "openapi-fetch": "0.17.0",
    "openapi-typescript": "7.13.0",
    "orval": "8.38.0",
    "typescript": "5.9.3",
  },
  /** The generators get only packages that were published by this date. */
  generatorsDate: "2026-10-01",
  /** acorn, which parses the panel's code as an old engine does, in a test. */
  acorn: "8.19.0",
};
