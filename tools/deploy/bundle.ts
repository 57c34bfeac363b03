import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH, PROJECT } from "../project.ts";
import { run } from "../command.ts";
import { makeTempFolder, type TempFolder } from "../temp_folder.ts";

/**
 * Makes a folder to deploy from, which holds the function as one minified file and the project's
 * own `config.toml`.
 *
 * @throws {Error} When the bundler fails, with what it printed.
 */
export async function bundleProject(): Promise<TempFolder> {
  await using unfinished = new AsyncDisposableStack();
  const folder = unfinished.use(await makeTempFolder());
  const target = new URL(FUNCTION_FOLDER_PATH, folder.url);
  await Deno.mkdir(target, { recursive: true });
  await Deno.copyFile(
    new URL("supabase/config.toml", PROJECT),
    new URL("supabase/config.toml", folder.url),
  );

  const { success, stderr } = await run(Deno.execPath(), [
    "bundle",
    "--minify",
    "--platform=deno",
    `--output=${fileURLToPath(new URL("bundle.js", target))}`,
    "index.ts",
  ], { cwd: FUNCTION_FOLDER });
  if (!success) throw new Error(`The bundler failed:\n${stderr}`);
  // The platform looks for `index.ts`. Minified JavaScript is not always TypeScript, so it stays in
  // a file of its own.
  await Deno.writeTextFile(
    new URL("index.ts", target),
    `export { default } from "./bundle.js";\n`,
  );
  await Deno.writeTextFile(new URL("deno.json", target), "{}\n");
  unfinished.move();
  return folder;
}
