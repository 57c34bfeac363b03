import { retry } from "@std/async/retry";
import { cp } from "node:fs/promises";
import { pathToFileURL } from "node:url";

/** Makes a folder outside of the project, with these text files. Disposing of it removes it. */
export async function makeTempFolder(files: Record<string, string> = {}) {
  const path = await Deno.makeTempDir();
  const url = pathToFileURL(`${path}/`);
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(new URL(name, url), text);
  }
  const remove = () => Deno.remove(path, { recursive: true });
  // Windows keeps the folder while a process that was killed in it is still ending. A leftover is
  // reported, not thrown: an error here would hide an earlier one.
  const dispose = () => retry(remove).catch(console.error);
  return { url, [Symbol.asyncDispose]: dispose };
}

/** Copies a folder into a temporary one, without what Git and npm have in it. */
export async function copyToTempFolder(source: URL) {
  const copy = await makeTempFolder();
  const filter = (path: string) => !/[/\\](\.git|node_modules)$/.test(path);
  await cp(source, copy.url, { recursive: true, filter });
  return copy;
}
