import { retry } from "@std/async/retry";
import { pathToFileURL } from "node:url";

/** Makes a folder outside of the project. Disposing of it removes it. */
export async function makeTempFolder() {
  const path = await Deno.makeTempDir();
  const remove = () => Deno.remove(path, { recursive: true });
  return {
    url: pathToFileURL(`${path}/`),
    // Windows keeps it for as long as a process that was killed in it is still ending. If it stays,
    // that is reported and not thrown: an error here would hide the one before it.
    [Symbol.asyncDispose]: () => retry(remove).catch(console.error),
  };
}
