/** The function's process: how it starts, what it prints, and when it ends. */
import { assertRejects, assertStringIncludes } from "@std/assert";
import {
  downloadAndStartFunction,
  startFunction,
} from "../../tools/stack/function_process.ts";
import { PROJECT } from "../../tools/project.ts";
import { StartError } from "../../tools/stack/start_error.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { until, watchProcess } from "../support/start_process.ts";
import { residentMb } from "../support/wire.ts";

/** A function that runs this before it serves. */
async function makeFunction(source: string) {
  const folder = await makeTempFolder();
  await Deno.writeTextFile(
    new URL("index.ts", folder.url),
    `${source}\nexport default { fetch: () => new Response() };`,
  );
  await Deno.writeTextFile(new URL("deno.json", folder.url), "{}");
  return { ...folder, options: { env: {}, folder: folder.url } };
}

Deno.test("function: what it prints arrives whole, even in pieces of a character", async () => {
  await using made = await makeFunction(`
    for (const byte of new TextEncoder().encode("Zoë 🛩.")) {
      Deno.stderr.writeSync(new Uint8Array([byte]));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }`);
  await using running = await startFunction(made.options);
  await until(() => running.output().includes("."), running.output);
  assertStringIncludes(running.output(), "Zoë 🛩.");
});

const SEE_ABOVE = "The edge function does not start: see above.";

for (const watch of [false, true]) {
  for (
    const [name, source, ...says] of [
      ["never gets ready", "await new Promise(() => {});", "within 1 s. Look"],
      ["throws", 'throw new Error("thrown");', "Error: thrown", SEE_ABOVE],
      ["does not compile", "const mistake = ;", "mistake = ;", SEE_ABOVE],
      ["lacks a file", 'import "./none.ts";', "none.ts", SEE_ABOVE],
    ] as const
  ) {
    Deno.test(`function: one that ${name} is an error that says so (watch: ${watch})`, async () => {
      await using made = await makeFunction(source);
      const limit = says.length === 1 ? { bootMs: 1_000 } : {};
      const options = { ...made.options, ...limit, watch };
      const start = () => downloadAndStartFunction(options);
      const { message } = await assertRejects(start, StartError);
      for (const text of says) assertStringIncludes(message, text);
    });
  }

  Deno.test(`function: it ends with the process that started it, however that ends (watch: ${watch})`, async () => {
    using watched = watchProcess();
    await using made = await makeFunction(watched.source);
    const source = new URL("tools/stack/function_process.ts", PROJECT);
    const parent = new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `import { startFunction } from "${source}";
        const folder = new URL("${made.url}");
        const { pid } = await startFunction({ env: {}, folder, watch: ${watch} });
        console.log(pid);`,
      ],
      cwd: PROJECT,
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const [chunk] = await Array.fromAsync(parent.stdout.values(), (bytes) => {
      parent.kill("SIGKILL");
      return new TextDecoder().decode(bytes);
    });
    await parent.status;
    await watched.is("gone");
    // Deno's watcher would outlive the function. Windows does not tell.
    const isGone = async () => !await residentMb(Number(chunk)).catch(() => 0);
    await until(isGone, () => `${chunk} still runs`);
  });
}
