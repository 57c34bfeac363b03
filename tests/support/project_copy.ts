import { cp } from "node:fs/promises";
import { assertNotEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** A copy of the project. Disposing of it removes it. */
export interface ProjectCopy extends AsyncDisposable {
  url: URL;
  /** The function's folder in it. */
  folder: URL;
  /** Replaces text in one of its files, where it has to be. Gives the whole new text. */
  edit(path: string, what: string | RegExp, by: string): Promise<string>;
}

/** Copies the project to a folder that is gone after use, so that a test may change it. */
export async function copyProject(): Promise<ProjectCopy> {
  const copy = await makeTempFolder();
  for await (const { name } of Deno.readDir(PROJECT)) {
    if (name === ".git" || name === "node_modules") continue;
    await cp(new URL(name, PROJECT), new URL(name, copy.url), {
      recursive: true,
    });
  }
  return {
    ...copy,
    folder: new URL(FUNCTION_FOLDER_PATH, copy.url),
    async edit(path, what, by) {
      const file = new URL(path, copy.url);
      const text = await Deno.readTextFile(file);
      const edited = text.replace(what, () => by);
      assertNotEquals(edited, text, path);
      await Deno.writeTextFile(file, edited);
      return edited;
    },
  };
}
