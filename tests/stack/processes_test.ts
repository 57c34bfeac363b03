/** The processes of `deno task start`: what becomes of them when one of them is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, assertEquals } from "@std/assert";
import { SEEDED } from "../../tools/project.ts";
import { NOT_FOUND } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { testWith } from "../support/left_out.ts";
import { copyProject } from "../support/project_copy.ts";
import {
  freePort,
  isFree,
  READY,
  runProcess,
  STACK_TRACE,
  startReady,
  until,
} from "../support/start_process.ts";

const test = testWith("/proc");

test("start: returns 502 while a crashed function restarts", async () => {
  await using copy = await copyProject();
  await using running = await startReady(copy.url);
  for (const pid of functionsOf(copy.url)) Deno.kill(pid, "SIGKILL");
  await until(
    async () => {
      const response = await check(SEEDED.project_id, "nobody", running.url);
      const body = await response.json();
      return response.status === 502 && typeof body.message === "string";
    },
    running.output,
  );
  await running.printed("The edge function runs again.");
  await assertAnswer(
    check(SEEDED.project_id, "nobody", running.url),
    NOT_FOUND,
  );
  assert(!STACK_TRACE.test(running.output()), running.output());
});

test("start: killed outright, it leaves no process behind", async () => {
  await using copy = await copyProject();
  await using running = await startReady(copy.url);
  assertEquals(functionsOf(copy.url).length, 1);
  // Only `deno task`: what it started has to notice.
  running.child.kill("SIGKILL");
  await until(
    () => functionsOf(copy.url).length === 0,
    () => "The function's process is still there",
  );
  await until(() => isFree(running.base), () => "The gateway is still there");
});

test("start: it outlives a shell that started it, whatever the shell's command line says", async () => {
  const port = freePort();
  await using copy = await copyProject();
  const start = `"${Deno.execPath()}" task --quiet start --port ${port}`;
  await using shell = runProcess(
    "bash",
    ["-c", `${start} & while sleep 1; do :; done`],
    copy.url,
  );
  await shell.printed(READY);
  shell.child.kill("SIGKILL");
  // It looks after what started it once a second.
  await sleep(2_500);
  try {
    assertEquals(functionsOf(copy.url).length, 1);
  } finally {
    for (const pid of processesWith(`${port}`)) Deno.kill(pid, "SIGKILL");
  }
});

/** The processes of the function in a copy of the project. */
function functionsOf(copy: URL): number[] {
  return processesWith(`--config=${fileURLToPath(copy)}`);
}

/** The processes whose command line has a text. */
function processesWith(text: string): number[] {
  return Array.from(Deno.readDirSync("/proc"), ({ name }) => Number(name))
    .filter((pid) => {
      try {
        return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(text);
      } catch {
        // No process, or gone meanwhile.
        return false;
      }
    });
}
