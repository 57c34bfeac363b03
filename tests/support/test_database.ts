/** Registers a test of an open PGlite, which sets the exit code while it runs. */
export function databaseTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeExit: false });
}
