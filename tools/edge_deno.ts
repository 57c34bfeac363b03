import { npx } from "./command.ts";
import { VERSIONS } from "./versions.ts";

/** Path of a Deno at the level of the hosted edge runtime: `EDGE_DENO`, or else that of npm. */
export async function edgeDeno(): Promise<string> {
  const own = Deno.env.get("EDGE_DENO");
  if (own) return own;
  const { success, stdout, stderr } = await npx(
    `deno@${VERSIONS.edgeDeno}`,
    ["eval", "console.log(Deno.execPath())"],
    // Not in the project: this Deno cannot read its lock file.
    { cwd: "/" },
  );
  if (success) return stdout;
  throw new Error(
    `Deno ${VERSIONS.edgeDeno} could not be downloaded from npm:\n${stderr}`,
  );
}
