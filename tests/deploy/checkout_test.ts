/** A checkout as Git for Windows makes it, with `core.autocrlf=true`. */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/command.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { copyProject } from "../support/project_copy.ts";

Deno.test("checkout: Git for Windows leaves line ends as they are", async () => {
  await using copy = await copyProject();
  await using target = await makeTempFolder();
  const git = async (...args: string[]) => {
    const { success, stdout, stderr } = await run("git", args, {
      cwd: copy.url,
    });
    assertEquals(success, true, `git ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  await git("init", "--quiet");
  await git("add", "--all");
  await git(...author, "commit", "--quiet", "--message=copy");
  const clone = fileURLToPath(new URL("clone", target.url));
  await git("-c", "core.autocrlf=true", "clone", "--quiet", ".", clone);

  // "i/lf w/crlf attr/…  path": in the index and in the work tree.
  const files = (await git("-C", clone, "ls-files", "--eol")).split("\n");
  assertEquals(files.filter((file) => file.includes("w/crlf")), []);
  assertEquals(files.some((file) => file.endsWith("\tdeno.json")), true);
});
