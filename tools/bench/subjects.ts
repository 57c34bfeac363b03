import { edgeDeno } from "../edge_deno.ts";
import { FUNCTION_FOLDER, FUNCTION_FOLDER_PATH, PROJECT } from "../project.ts";
import { bundleProject } from "../deploy/bundle.ts";
import { downloadPackages } from "../stack/function_process.ts";
import { makeTempFolder } from "../temp_folder.ts";

/** What is measured: a name, and a folder with an `index.ts`, outside of the project as deployed. */
export interface Subject {
  name: string;
  folder: URL;
}

/** Everything that is measured. Disposing of it removes the folders. */
export interface Subjects extends AsyncDisposable {
  /** The Deno that all of it runs on: the hosted edge runtime's level. */
  deno: string;
  stub: Subject;
  limit: Subject;
  bare: Subject;
  scaffold: Subject;
  source: Subject;
  bundle: Subject;
}

/** What is compared, the two baselines first. */
export function compared(
  { limit, bare, source, bundle, scaffold }: Subjects,
): Subject[] {
  return [limit, bare, source, bundle, scaffold];
}

const HANDLERS = new URL("./handlers/", import.meta.url);

/** Copies the handlers and the function to folders of their own, and gets their packages. */
export async function prepareSubjects(): Promise<Subjects> {
  const deno = await edgeDeno();
  await using unfinished = new AsyncDisposableStack();
  const root = unfinished.use(await makeTempFolder()).url;
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", PROJECT)),
  );

  const handler = async (file: string, name: string): Promise<Subject> => {
    const folder = new URL(`${file}/`, root);
    await Deno.mkdir(folder);
    await Deno.copyFile(
      new URL("environment.ts", HANDLERS),
      new URL("environment.ts", folder),
    );
    await Deno.copyFile(
      new URL(`${file}.ts`, HANDLERS),
      new URL("index.ts", folder),
    );
    await Deno.writeTextFile(
      new URL("deno.json", folder),
      JSON.stringify({ imports }),
    );
    return { name, folder };
  };

  const source = { name: "this function", folder: new URL("source/", root) };
  await Deno.mkdir(source.folder);
  for (const { name } of Deno.readDirSync(FUNCTION_FOLDER)) {
    await Deno.copyFile(
      new URL(name, FUNCTION_FOLDER),
      new URL(name, source.folder),
    );
  }
  const bundled = unfinished.use(await bundleProject());
  const subjects = {
    stub: await handler("stub", "Data API stub"),
    limit: await handler("limit", "fetch alone: the limit"),
    bare: await handler("bare", "bare supabase-js"),
    scaffold: await handler("scaffold", "official scaffold"),
    source,
    bundle: {
      name: "this function, bundled",
      folder: new URL(FUNCTION_FOLDER_PATH, bundled.url),
    },
  };
  for (const { folder } of Object.values(subjects)) {
    await downloadPackages({ folder, deno });
  }
  const folders = unfinished.move();
  return {
    deno,
    ...subjects,
    [Symbol.asyncDispose]: () => folders.disposeAsync(),
  };
}
