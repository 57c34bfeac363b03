/** Folders that are removed when they are disposed of. */
import { cp } from "node:fs/promises";
import { pathToFileURL } from "node:url";

/** Makes a folder outside of the project: an empty one, or a copy. Disposing of it removes it. */
export async function makeTempFolder(source?: URL) {
  const path = await Deno.makeTempDir();
  const filter = (path: string) => !/[/\\](\.git|node_modules)$/.test(path);
  if (source) await cp(source, path, { recursive: true, filter });
  // Windows may keep it for a while, for a process that was killed in it: then it stays.
  const dispose = () => Deno.remove(path, { recursive: true }).catch(() => {});
  return { url: pathToFileURL(`${path}/`), [Symbol.asyncDispose]: dispose };
}
