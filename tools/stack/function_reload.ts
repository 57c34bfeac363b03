import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER } from "../project.ts";
import {
  downloadAndStartFunction,
  type FunctionOptions,
  type FunctionProcess,
} from "./function_process.ts";
import { StartError } from "./start_error.ts";

/** Editors write a file in several steps. */
const EDIT_MS = 150;

/** A function that ends by itself is started again, but not over and over without a pause. */
const RESTART_MS = 1_000;

/** An edge function whose edits are served as they are saved. Disposing of it ends it. */
export interface ReloadingFunction extends AsyncDisposable {
  /** The function's address, while it runs. */
  readonly url: URL | undefined;
}

/**
 * Runs the function, and starts it anew whenever one of its files changes, or when it ends by
 * itself. While an edit does not start, the version before it goes on serving.
 *
 * @param options How to run it.
 * @param say Gets a line about each reload, and Deno's own message about a mistake.
 * @throws {StartError} When it does not start in the first place.
 */
export async function startReloadingFunction(
  options: FunctionOptions,
  say: (message: string) => void,
): Promise<ReloadingFunction> {
  let current: FunctionProcess | undefined;
  // While one starts, or is about to.
  let boot: AbortController | undefined;
  let closed = false;

  const start = async (signal: AbortSignal) => {
    const next = await downloadAndStartFunction({ ...options, signal });
    const previous = current;
    current = next;
    next.ended.then((code) => {
      if (next !== current) return;
      current = undefined;
      say(
        `The edge function ended by itself (exit code ${code}). Starting it again ...`,
      );
      if (!boot) restart(RESTART_MS, "The edge function runs again.");
    });
    await previous?.[Symbol.asyncDispose]();
  };

  const restart = (pauseMs: number, done: string) => {
    if (closed) return;
    // The last edit is the one that is served, even if the one before it never gets ready.
    boot?.abort();
    const own = boot = new AbortController();
    const { signal } = own;
    work = work.then(async () => {
      try {
        await sleep(pauseMs, undefined, { signal });
        await start(signal);
        say(done);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof StartError)) throw error;
        const serving = current
          ? "The version before it goes on serving. "
          : "";
        say(`${error.message}\n${serving}Save a fix, and it is tried again.`);
      } finally {
        if (boot === own) boot = undefined;
      }
    });
  };

  // Before the first start, which may take minutes to download.
  const watcher = Deno.watchFs(
    fileURLToPath(options.folder ?? FUNCTION_FOLDER),
  );
  const watching = (async () => {
    for await (const { kind, paths } of watcher) {
      const isSource = paths.some((path) => /\.(ts|js|json)$/.test(path));
      if (kind === "access" || !isSource) continue;
      restart(EDIT_MS, "Reloaded the edge function.");
    }
  })();
  const close = async () => {
    closed = true;
    boot?.abort();
    watcher.close();
    await Promise.all([watching, work]);
    const last = current;
    current = undefined;
    await last?.[Symbol.asyncDispose]();
  };

  // No edit aborts the first start.
  const first = start(new AbortController().signal);
  let work = first.catch(() => {});
  await first.catch(async (error) => {
    await close();
    throw error;
  });
  return {
    get url() {
      return current?.url;
    },
    [Symbol.asyncDispose]: close,
  };
}
