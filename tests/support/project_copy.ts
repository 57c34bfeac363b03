import { cp } from "node:fs/promises";
import { assert } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** Copies the project, so that a test may edit it. Disposing of the copy removes it. */
export async function copyProject() {
  const copy = await makeTempFolder();
  const filter = (path: string) => !/[/\\](\.git|node_modules)$/.test(path);
  await cp(PROJECT, copy.url, { recursive: true, filter });
  return {
    ...copy,
    /** Replaces text in a file. Fails if the text is not there. Returns the whole new text. */
    async edit(path: string, what: string | RegExp, by: string) {
      const file = new URL(path, copy.url);
      const text = await Deno.readTextFile(file);
      const edited = text.replace(what, () => by);
      assert(edited !== text, `${path} has no ${what}`);
      await Deno.writeTextFile(file, edited);
      return edited;
    },
  };
}
