/**
 * `deno task deploy`: deploys the function as one minified file, with exactly the packages of
 * `deno.lock`. Its arguments go to `supabase functions deploy`.
 */
import { NPX } from "../command.ts";
import { bundleProject } from "./bundle.ts";
import { SUPABASE_CLI } from "../supabase_cli.ts";

console.error("Bundling the function, with the packages of deno.lock ...");
await using project = await bundleProject();
console.error(
  `Deploying it with ${SUPABASE_CLI}, which asks before it does. (--yes answers for you.)`,
);
const command = "functions deploy check-username-active --use-api".split(" ");
const { code } = await new Deno.Command(NPX, {
  args: ["--yes", SUPABASE_CLI, ...command, ...Deno.args],
  cwd: project.url,
}).spawn().status;
Deno.exitCode = code;
