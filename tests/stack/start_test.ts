/** `deno task start`, as a person uses it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import process from "node:process";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { run, VERSIONS } from "../../tools/command.ts";
import { startFunction } from "../../tools/function_process.ts";
import { listenOnLoopback, serveOnLoopback } from "../../tools/loopback.ts";
import * as project from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { NOT_FOUND } from "../support/contract.ts";
import { runStart, waitUntil } from "../support/processes.ts";
import { askAt } from "../support/requests.ts";

const { CHECK_PATH, FUNCTION_FOLDER_PATH, PROJECT, SEEDED } = project;

/** Runs `deno task start` where it should end by itself. On a busy machine, that takes a while. */
const startAndEnd = (...options: string[]) => {
  const args = ["task", "--quiet", "start", ...options];
  const signal = AbortSignal.timeout(180_000);
  return run(Deno.execPath(), args, { cwd: PROJECT, signal });
};

Deno.test("start: with a wrong option, it ends with exit code 1, and says how to use it", async () => {
  const { code, stderr } = await startAndEnd("--prot=8321");
  assertEquals(code, 1);
  assertMatch(stderr, /Unknown option '--prot'[^]*Usage: deno task start/);
});

/** Makes a folder with an edge function of this code. */
async function makeFunction(code: string) {
  const folder = await makeTempFolder();
  await Deno.writeTextFile(new URL("deno.json", folder.url), "{}");
  await Deno.writeTextFile(new URL("index.ts", folder.url), code);
  return folder;
}

/** Waits until a process has ended. Signal 0 ends nothing, and throws if there is no process. */
const waitForEnd = (pid: number) =>
  waitUntil(
    `process ${pid} to end`,
    () => Promise.try(process.kill, pid, 0).then(() => false, () => true),
  );

// Everybody knows the local stack's secret key.
Deno.test("start: each kind of its servers listens on this machine alone", async () => {
  await using server = serveOnLoopback(() => new Response());
  await using nodeServer = await listenOnLoopback(createServer());
  for (const { url } of [server, nodeServer]) assertEquals(new URL(url).hostname, "127.0.0.1");
});

Deno.test("start: the function's process has what the platform gives it, and ends when its parent is killed", async () => {
  await using folder = await makeFunction(`import { getHeapStatistics } from "node:v8";
    const names = ["env", "ffi", "net", "read", "run", "sys", "write"];
    const may = (name) => Deno.permissions.querySync({ name }).state === "granted";
    // V8 adds some 100 MB for what is new. By default, it takes gigabytes.
    const isLimited = getHeapStatistics().heap_size_limit < 400e6;
    const { NPM_CONFIG_REGISTRY, PARENTS } = Deno.env.toObject();
    const seen = [names.filter(may).join(), isLimited, NPM_CONFIG_REGISTRY, PARENTS];
    export default { fetch: () => new Response(seen.join(" ")) };`);
  // In a process of its own, because the tests of all files share the variables of theirs.
  const script = `import { startFunction } from "${new URL("tools/function_process.ts", PROJECT)}";
    const { url, pid } = await startFunction("", { folder: new URL("${folder.url}") });
    console.log(pid, url.hostname, await (await fetch(url)).text());
    Deno.kill(Deno.pid, "SIGKILL");`;
  // A company may have a registry of its own. Every other variable of the parent is left out.
  const env = { NPM_CONFIG_REGISTRY: "https://npm.example.com/", PARENTS: "secret" };
  const { stdout, stderr } = await run(Deno.execPath(), ["eval", "--no-config", script], { env });
  const [pid, ...seen] = stdout.split(" ");
  assertEquals(seen, ["127.0.0.1", "env,net", "true", env.NPM_CONFIG_REGISTRY], stderr);
  await waitForEnd(Number(pid));
});

// On Windows, a process keeps the number of a parent that has ended.
const test = Deno.build.os === "windows" ? Deno.test.ignore : Deno.test;
test("start: it ends when its parent has ended, which is `deno task` for a person", async () => {
  const line = `"${Deno.execPath()}" run -A tools/start.ts --port=0 & echo "pid $!"; wait`;
  const parent = spawn("sh", ["-c", line], { cwd: PROJECT });
  let output = "";
  for (const stream of [parent.stdout, parent.stderr]) stream.on("data", (text) => output += text);
  await waitUntil("the start", () => /^API_URL=/m.test(output), () => output, 180);
  parent.kill("SIGKILL");
  await waitForEnd(Number(output.match(/pid (\d+)/)![1]));
});

Deno.test("start: a function that fails before it has served ends the start, with its message", async () => {
  await using folder = await makeFunction('export default {}; throw new Error("broken");');
  const start = () => startFunction("", { folder: folder.url, watch: true });
  await assertRejects(start, Error, "Error: broken");
});

const SILENT = "a declared body of which nothing comes";
const UPGRADE = { Connection: "Upgrade, HTTP2-Settings", Upgrade: "h2c", "HTTP2-Settings": "" };
type Post = { when: string; path: string; headers?: Record<string, string>; status: number };
/** POSTs about a user who has a key, each to a path, and the status of the response. */
const POSTS: Post[] = [
  // Java's HttpClient and `curl --http2` do so. Deno 2.9 itself would respond with 400.
  { when: "an offer to upgrade to HTTP/2", path: CHECK_PATH, headers: UPGRADE, status: 200 },
  // The first segment behind `/functions/v1/` is the function's name, and the rest does not count.
  { when: "a path and a query behind it", path: `${CHECK_PATH}/x?y=1`, status: 200 },
  { when: "the name of no function", path: `${CHECK_PATH}x`, status: 404 },
  { when: SILENT, path: CHECK_PATH, status: 408 },
];

Deno.test("start: while it runs", async (test) => {
  await using clone = await makeTempFolder(PROJECT);
  await using start = await runStart(clone.url);

  await test.step("it prints requests that are ready to paste", () => {
    const { output, url } = start;
    assertMatch(
      output(),
      new RegExp(`^curl -i ${url}${CHECK_PATH} .*\n.*\n.*${project.LOCAL_SERVICE.SECRET_KEY}`, "m"),
    );
  });

  for (const { when, path, headers = {}, status } of POSTS) {
    await test.step(`${when} → ${status}, which a page of another origin can read`, async () => {
      const body = JSON.stringify(SEEDED);
      const options = { method: "POST", headers: { ...headers, "Content-Length": body.length } };
      // Not `fetch`, which sends no offer to upgrade.
      const sent = request(start.url + path, options);
      if (when === SILENT) sent.flushHeaders();
      else sent.end(body);
      const signal = AbortSignal.timeout(60_000);
      const [response] = await once(sent, "response", { signal }) as [IncomingMessage];
      sent.destroy();
      assertEquals(response.statusCode, status);
      assertEquals(response.headers["access-control-allow-origin"], "*");
    });
  }

  await test.step("a second start on its port ends, and names the option for another port", async () => {
    const second = await startAndEnd("--port", new URL(start.url).port);
    assertEquals(second.code, 1, "exit code");
    // 8321 is only an example of another port.
    const advice = `Or take another port: npx -y deno@${VERSIONS.deno} task start --port 8321`;
    assertStringIncludes(second.stderr, advice);
  });

  const file = new URL(`${FUNCTION_FOLDER_PATH}responses.ts`, clone.url);
  const source = await Deno.readTextFile(file);
  /** Saves an edit of the function, and waits until a condition holds. */
  const save = (edited: string, holds: () => unknown) => {
    const { length } = start.output();
    const write = () => Deno.writeTextFileSync(file, edited);
    write();
    // Deno's watcher misses an edit while it starts the function. So the edit is written again each
    // second, until the watcher restarts the function.
    const isSeen = () => start.output().includes("Restarting!", length);
    const again = setInterval(() => isSeen() || write(), 1_000);
    return waitUntil("an edit to be seen", holds, start.output)
      .finally(() => clearInterval(again));
  };
  /** Tells whether callers get a response with this text. */
  const responds = (text: string) => async () => {
    const response = await askAt(start.url + CHECK_PATH, SEEDED.project_id, "nobody");
    return (await response.text()).includes(text);
  };

  await test.step("an edit of the function is served", () =>
    save(source.replace(NOT_FOUND.body.error, "EDITED"), responds("EDITED")));

  await test.step("a mistake is shown in the terminal, and callers are told to look there", async () => {
    await save(`${source}mistake = ;`, () => /mistake = ;/.test(start.output()));
    await waitUntil("the gateway to say so", responds("Look at the terminal"), start.output);
  });

  // On Windows, a test cannot send Ctrl-C, so it kills `start`. Then the function's process has to
  // notice by itself that `start` is gone, which it could not in an endless loop.
  const loop = Deno.build.os === "windows" ? "" : "for (;;);";
  await test.step(`Ctrl-C also ends the function's process${loop && ", in an endless loop"}`, async () => {
    const printed = () => start.output().match(/process (\d+) runs/)?.[1];
    await save(`${source}console.log("process", Deno.pid, "runs"); ${loop}`, printed);
    const pid = Number(printed());
    start.child.kill("SIGINT");
    await start.ended;
    await waitForEnd(pid);
  });
});
