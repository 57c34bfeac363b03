import { setTimeout as sleep } from "node:timers/promises";
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
    [Symbol.asyncDispose]: () => remove(path),
  };
}

/** For how long to try to remove a folder, in milliseconds. */
const REMOVING_MS = 5_000;

/**
 * Windows keeps a folder for as long as a process that was killed in it is still ending. A folder
 * that stays is reported and not thrown, because an error here would hide the one before it.
 */
async function remove(path: string): Promise<void> {
  const giveUpAt = performance.now() + REMOVING_MS;
  for (;;) {
    try {
      return await Deno.remove(path, { recursive: true });
    } catch (error) {
      if (performance.now() < giveUpAt) {
        await sleep(100);
        continue;
      }
      return console.error(`${path} could not be removed: ${error}`);
    }
  }
}
