import { pathToFileURL } from "node:url";

/** A new folder outside of the project. Disposing of it removes it. */
export interface TempFolder extends AsyncDisposable {
  url: URL;
}

/** Makes a folder that is gone after use. */
export async function makeTempFolder(): Promise<TempFolder> {
  const path = await Deno.makeTempDir();
  return {
    url: pathToFileURL(`${path}/`),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
