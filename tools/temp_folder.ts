import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Makes a folder outside of the project. Disposing of it removes it. */
export async function makeTempFolder(): Promise<
  AsyncDisposable & { url: URL }
> {
  const path = await Deno.makeTempDir();
  return {
    url: pathToFileURL(`${path}/`),
    [Symbol.asyncDispose]: () => remove(path),
  };
}

/**
 * Windows keeps a folder for as long as a process that was killed in it is still ending. A folder
 * that stays is reported and not thrown, because an error here would hide the one before it.
 */
async function remove(path: string): Promise<void> {
  let problem: unknown;
  for (let tries = 0; tries < 50; tries++) {
    try {
      return await Deno.remove(path, { recursive: true });
    } catch (error) {
      problem = error;
      await sleep(100);
    }
  }
  console.error(`${path} could not be removed: ${problem}`);
}
