import { cp } from "node:fs/promises";
import { PROJECT } from "../../tools/project.ts";
import { makeTempFolder, type TempFolder } from "../../tools/temp_folder.ts";

/** Copies the project to a folder that is gone after use, so that a test may change it. */
export async function copyProject(): Promise<TempFolder> {
  const folder = await makeTempFolder();
  for await (const { name } of Deno.readDir(PROJECT)) {
    if (name === ".git" || name === "node_modules") continue;
    await cp(new URL(name, PROJECT), new URL(name, folder.url), {
      recursive: true,
    });
  }
  return folder;
}
