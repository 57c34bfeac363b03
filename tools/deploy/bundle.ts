import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH, PROJECT } from "../project.ts";
import { run } from "../command.ts";
import { makeTempFolder, type TempFolder } from "../temp_folder.ts";

/** A folder to deploy from. Disposing of it removes it. */
export interface BundledProject extends TempFolder {
  /** How large the bundle is, in bytes. */
  bytes: number;
}

/**
 * Makes a folder to deploy from, which holds the function as one minified file and the project's
 * own `config.toml`.
 *
 * @throws {Error} When the bundler fails, with what it printed.
 */
export async function bundleProject(): Promise<BundledProject> {
  await using unfinished = new AsyncDisposableStack();
  const folder = unfinished.use(await makeTempFolder());
  const target = new URL(FUNCTION_FOLDER_PATH, folder.url);
  await Deno.mkdir(target, { recursive: true });
  await Deno.copyFile(
    new URL("supabase/config.toml", PROJECT),
    new URL("supabase/config.toml", folder.url),
  );

  const bundle = new URL("bundle.js", target);
  const { success, stderr } = await run(Deno.execPath(), [
    "bundle",
    "--minify",
    "--platform=deno",
    `--output=${fileURLToPath(bundle)}`,
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
  const { size } = await Deno.stat(bundle);
  unfinished.move();
  return { ...folder, bytes: size };
}
