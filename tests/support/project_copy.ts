import { cp } from "node:fs/promises";
import { PROJECT } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

/** Copies the project, so that a test may edit it. Disposing of the copy removes it. */
export async function copyProject() {
  const copy = await makeTempFolder();
  const filter = (path: string) => !/[/\\](\.git|node_modules)$/.test(path);
  await cp(PROJECT, copy.url, { recursive: true, filter });
  return copy;
}
