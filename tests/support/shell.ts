import { type Output, run } from "../../tools/command.ts";

/** Runs a line as a person types it: in sh, and on Windows in cmd. */
export function runLine(line: string): Promise<Output> {
  return Deno.build.os === "windows"
    // With /s, cmd takes off the outer quotes and nothing else.
    ? run("cmd", ["/d", "/s", "/c", `"${line}"`], {
      windowsRawArguments: true,
    })
    : run("sh", ["-c", line]);
}
