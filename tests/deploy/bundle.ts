import { FUNCTION_FOLDER } from "../stack/function_process.ts";
import { PROJECT } from "./cli.ts";

const FOLDER = "supabase/functions/check-username-active/";

/**
 * Makes a folder to deploy from, which holds the function as one minified file and the project's
 * own `config.toml`. The caller removes it.
 *
 * @returns The folder, and how large the bundle is, in bytes.
 * @throws {Error} When the bundler fails, with what it printed.
 */
export async function bundleProject(): Promise<{ folder: URL; bytes: number }> {
  const folder = new URL(`file://${await Deno.makeTempDir()}/`);
  const target = new URL(FOLDER, folder);
  await Deno.mkdir(target, { recursive: true });
  await Deno.copyFile(
    new URL("supabase/config.toml", PROJECT),
    new URL("supabase/config.toml", folder),
  );

  const bundle = new URL("bundle.js", target);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--minify",
      "--platform=deno",
      `--output=${bundle.pathname}`,
      "index.ts",
    ],
    cwd: FUNCTION_FOLDER,
  }).output();
  if (!success) {
    throw new Error(
      `The bundler failed:\n${new TextDecoder().decode(stderr)}`,
    );
  }
  // The platform looks for `index.ts`. Minified JavaScript is not always TypeScript, so it stays in
  // a file of its own.
  await Deno.writeTextFile(
    new URL("index.ts", target),
    `export { default } from "./bundle.js";\n`,
  );
  await Deno.writeTextFile(new URL("deno.json", target), "{}\n");
  return { folder, bytes: (await Deno.stat(bundle)).size };
}
