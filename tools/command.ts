/** Commands that tools and tests run, and the versions of what npx runs. */

/** What npx runs, here and on the pages. Dependabot does not watch this file. */
export const VERSIONS = {
  deno: "2.9.6",
  edgeDeno: "2.1.4", // The hosted edge runtime's.
  supabase: "3.1.0",
};

/** Runs a command to its end, without input. Returns its exit code, and its output, trimmed. */
export async function run(command: string, args: string[], settings?: Deno.CommandOptions) {
  const options = { args, stdin: "null", ...settings } as const;
  const output = await new Deno.Command(command, options).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  const { code, stdout, stderr } = output;
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Path of the hosted edge runtime's version of Deno, which is downloaded if need be. */
export async function edgeDeno(): Promise<string> {
  const npx = Deno.build.os === "windows" ? "npx.cmd" : "npx";
  const args = ["--yes", `deno@${VERSIONS.edgeDeno}`, "eval", "console.log(Deno.execPath())"];
  // Outside of the project, whose lock file that version cannot read.
  const found = await run(npx, args, { cwd: "/" });
  if (found.code !== 0) throw new Error(found.stderr);
  return found.stdout;
}
