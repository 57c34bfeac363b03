/** Versions of the npm packages that tests and tools run. Dependabot does not watch this file. */
export const VERSIONS = {
  /** The hosted edge runtime's version of Deno. */
  edgeDeno: "2.1.4",
  supabase: "3.1.0",
  redocly: "2.77.0",
  /** For a client of `openapi.yaml`, from packages that are no newer than `generatorDate`. */
  generator: { orval: "8.38.0", typescript: "5.9.3" },
  generatorDate: "2026-10-01",
  acorn: "8.19.0",
};
