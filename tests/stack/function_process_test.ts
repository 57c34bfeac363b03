/** The function's process: how it starts, what it prints, and when it ends. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { startFunction } from "../../tools/stack/function_process.ts";
import { PROJECT } from "../../tools/project.ts";
import { StartError } from "../../tools/stack/start_error.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { waitUntil, waitUntilGone } from "../support/processes.ts";

/** Makes a folder with a function that runs this before it serves. */
function makeFunction(source: string) {
  const index = `${source}\nexport default { fetch: () => new Response() };`;
  return makeTempFolder({ "index.ts": index, "deno.json": "{}" });
}

Deno.test("function: it inherits nothing but what the operating system needs, and prints whole characters", async () => {
  await using folder = await makeFunction(`
    console.log("env:", JSON.stringify(Deno.env.toObject()));
    for (const byte of new TextEncoder().encode("Zoë 🛩 end")) {
      Deno.stdout.writeSync(new Uint8Array([byte]));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }`);
  Deno.env.set("NOT_GIVEN", "x");
  // Windows sets it.
  const SystemRoot = Deno.env.get("SystemRoot") ?? "C:\\Windows";
  Deno.env.set("SystemRoot", SystemRoot);
  const options = { env: { GIVEN: "x" }, folder: folder.url };
  await using running = await startFunction(options);
  await waitUntil(() => running.output().includes("end"), running.output);
  assertStringIncludes(running.output(), "Zoë 🛩 end");
  const [, env = ""] = running.output().match(/env: (.*)/) ?? [];
  const has: Record<string, string> = JSON.parse(env);
  assertEquals([has.GIVEN, has.SystemRoot], ["x", SystemRoot]);
  assertEquals([has.NOT_GIVEN, has.HOME], [undefined, undefined]);
});

const MISTAKES = [
  ["throws", 'throw new Error("thrown");', "Error: thrown"],
  ["does not compile", "const mistake = ;", "mistake = ;"],
] as const;
for (const [name, source, says] of MISTAKES) {
  const test = `function: one that ${name} is an error that says so`;
  Deno.test(test, { timeout: 30_000 }, async () => {
    await using folder = await makeFunction(source);
    const options = { env: {}, folder: folder.url, watch: true };
    const start = () => startFunction(options);
    const { message } = await assertRejects(start, StartError, says);
    assertStringIncludes(message, "The edge function does not start");
  });
}

Deno.test("function: ends with its parent", { timeout: 60_000 }, async () => {
  await using folder = await makeFunction("");
  const source = new URL("tools/stack/function_process.ts", PROJECT);
  const script = `import { startFunction } from "${source}";
    const folder = new URL("${folder.url}");
    const { url, pid } = await startFunction({ env: {}, folder, watch: true });
    console.log((await fetch(url)).status, pid, url.href);
    Deno.kill(Deno.pid, "SIGKILL");`;
  const args = ["eval", script];
  const { stdout } = await run(Deno.execPath(), args, { cwd: PROJECT });
  const [status, pid, url] = stdout.split(" ");
  assertEquals(status, "200");
  const refuses = () => fetch(`${url}`).then(() => false, () => true);
  await waitUntil(refuses, () => `${url} still serves`);
  // Deno's watcher would outlive the function.
  await waitUntilGone(Number(pid));
});
