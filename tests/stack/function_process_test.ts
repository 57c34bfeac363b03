/** The function's process: how it starts, what it prints, and when it ends. */
import { assert, assertRejects, assertStringIncludes } from "@std/assert";
import {
  BootError,
  downloadAndStartFunction,
  startFunction,
} from "../../tools/stack/function_process.ts";
import { startReloadingFunction } from "../../tools/stack/function_reload.ts";
import { PROJECT } from "../../tools/project.ts";
import { StartError } from "../../tools/stack/start_error.ts";
import { serveOnLoopback } from "../../tools/loopback.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { until, watchProcess } from "../support/start_process.ts";

const FETCH = `export default { fetch: () => new Response("first") };`;

/** A function with this source. */
async function makeFunction(source: string) {
  const folder = await makeTempFolder();
  const index = new URL("index.ts", folder.url);
  await Deno.writeTextFile(index, source);
  await Deno.writeTextFile(new URL("deno.json", folder.url), "{}");
  return { ...folder, index, options: { env: {}, folder: folder.url } };
}

Deno.test("function: what it prints arrives whole, even in pieces of a character", async () => {
  await using made = await makeFunction(`
    for (const byte of new TextEncoder().encode("Zoë 🛩.")) {
      Deno.stderr.writeSync(new Uint8Array([byte]));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    ${FETCH}`);
  await using running = await startFunction(made.options);
  await until(() => running.output().includes("."), running.output);
  assertStringIncludes(running.output(), "Zoë 🛩.");
});

Deno.test("function: one that never gets ready is ended, in a sentence", async () => {
  await using made = await makeFunction(
    `await new Promise(() => {}); ${FETCH}`,
  );
  const start = () => startFunction({ ...made.options, bootMs: 1_000 });
  await assertRejects(start, StartError, "not ready within 1 s");
});

Deno.test("function: a syntax error prints Deno's message, not a download error", async () => {
  await using made = await makeFunction("const mistake = ;");
  const { message } = await assertRejects(
    () => downloadAndStartFunction(made.options),
    BootError,
  );
  assertStringIncludes(message, "const mistake = ;");
  assert(!message.includes("registry"), message);
});

Deno.test("function: an edit during the first start is served", async () => {
  await using server = serveOnLoopback(async () => {
    await Deno.writeTextFile(made.index, FETCH.replace("first", "second"));
    return new Response();
  });
  await using made = await makeFunction(
    `await fetch("${server.url}"); ${FETCH}`,
  );
  await using running = await startReloadingFunction(made.options, () => {});
  const ask = async () => {
    const { url } = running;
    return url && await (await fetch(url)).text();
  };
  await until(async () => await ask() === "second", () => "Not served");
});

Deno.test("function: it ends with the process that started it, however that ends", async () => {
  using watch = watchProcess();
  await using made = await makeFunction(watch.source + FETCH);
  const source = new URL("tools/stack/function_process.ts", PROJECT);
  const parent = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { startFunction } from "${source}";
      await startFunction({ env: {}, folder: new URL("${made.url}") });`,
    ],
    cwd: PROJECT,
    stdin: "null",
  }).spawn();
  await watch.is("booting");
  parent.kill("SIGKILL");
  await parent.status;
  await watch.is("gone");
});
