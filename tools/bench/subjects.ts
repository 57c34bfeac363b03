import { cp } from "node:fs/promises";
import { bundleProject } from "../deploy/bundle.ts";
import { edgeDeno } from "../edge_deno.ts";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH, PROJECT } from "../project.ts";
import { downloadPackages } from "../stack/function_process.ts";
import { makeTempFolder } from "../temp_folder.ts";

/** What is measured, and the stub that stands in for the Data API. */
export type Name =
  | "stub"
  | "limit"
  | "bare"
  | "scaffold"
  | "source"
  | "bundle";

/** Everything that is measured. Disposing of it removes the folders. */
export interface Subjects extends AsyncDisposable {
  /** The Deno that all of it runs on: the hosted edge runtime's level. */
  deno: string;
  /** Folders with an `index.ts`, outside of the project as deployed functions are. */
  folders: Record<Name, URL>;
}

const HANDLERS = new URL("./handlers/", import.meta.url);

/** Copies the handlers and the function to folders of their own, and gets their packages. */
export async function prepareSubjects(): Promise<Subjects> {
  const deno = await edgeDeno();
  await using unfinished = new AsyncDisposableStack();
  const root = unfinished.use(await makeTempFolder()).url;
  const bundled = unfinished.use(await bundleProject());
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", PROJECT)),
  );

  const copy = async (from: URL, name: Name): Promise<URL> => {
    const folder = new URL(`${name}/`, root);
    await cp(from, folder, { recursive: true });
    return folder;
  };
  const handler = async (name: Name): Promise<URL> => {
    const folder = await copy(HANDLERS, name);
    const files = {
      "index.ts": `export { default } from "./${name}.ts";`,
      "deno.json": JSON.stringify({ imports }),
    };
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(new URL(file, folder), text);
    }
    return folder;
  };
  const folders = {
    stub: await handler("stub"),
    limit: await handler("limit"),
    bare: await handler("bare"),
    scaffold: await handler("scaffold"),
    source: await copy(FUNCTION_FOLDER, "source"),
    bundle: new URL(FUNCTION_FOLDER_PATH, bundled.url),
  };
  for (const folder of Object.values(folders)) {
    await downloadPackages({ folder, deno });
  }
  const temporary = unfinished.move();
  return {
    deno,
    folders,
    [Symbol.asyncDispose]: () => temporary.disposeAsync(),
  };
}
