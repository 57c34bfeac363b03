/** What `supabase functions deploy` uploads, and that it runs as it was uploaded. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import { FUNCTION_FOLDER_PATH as FOLDER } from "../../tools/project.ts";
import { LIMITS, TIMEOUT, TOO_LARGE } from "../support/contract.ts";
import { assertResponse, send } from "../support/requests.ts";
import { assertIs, exchange, post } from "../support/wire.ts";
import { runOnPlatform } from "./management_api.ts";
import { startUploadedService } from "./uploaded_service.ts";

let service: Awaited<ReturnType<typeof startUploadedService>>;
Deno.test.beforeAll(async () => {
  service = await startUploadedService();
});
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

Deno.test("upload: the function's own files, and nothing else", () => {
  const { files, metadata } = service;
  const source = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(files.sort(), source.map((name) => FOLDER + name).sort());
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
});

Deno.test("upload: callers need no token", () => {
  const needed = "config.toml needs verify_jwt = false for the function";
  assertEquals(service.metadata.verify_jwt, false, needed);
});

Deno.test("upload: it type-checks at the edge runtime's level", async () => {
  const { deno, folder } = service;
  const check = ["check", "--no-lock", "index.ts"];
  const { success, stderr } = await run(deno, check, { cwd: folder });
  assert(success, stderr);
});

for (const command of ["deno run --allow-net", "node"]) {
  Deno.test(`upload: through the platform's main worker, the 413 reaches whoever goes on sending with ${command}`, async () => {
    const [program = "", ...args] = command.split(" ");
    const caller = fileURLToPath(
      import.meta.resolve("./large_body_caller.mjs"),
    );
    // In KiB: these broke the connection before the rest of a body was read.
    for (const size of ["17", "200", "1024", "3072"]) {
      const { stdout, stderr } = await run(
        program === "deno" ? Deno.execPath() : program,
        [...args, caller, service.workerUrl.href, size],
      );
      const expected = `${TOO_LARGE.status} ${JSON.stringify(TOO_LARGE.body)}`;
      assertEquals(stdout.split("\n"), Array(20).fill(expected), stderr);
    }
  });
}

Deno.test("upload: through the platform's main worker, a silent caller gets the 408 with its next byte", async () => {
  const { readable, writable } = new TextEncoderStream();
  const response = send({ body: readable }, service.workerUrl);
  const writer = writable.getWriter();
  await writer.write("{");
  const patience = sleep(LIMITS.bodyMs + 2_000, "nothing");
  assertEquals(await Promise.race([response, patience]), "nothing");
  await writer.write("}");
  await assertResponse(response, TIMEOUT);
});

Deno.test("upload: a body in chunks that is too long → 413, whatever length it declares", async () => {
  // Only this Deno takes both headers.
  const text = await exchange(
    service.functionUrl,
    post("Content-Length: 5\r\nTransfer-Encoding: chunked") +
      `5000\r\n${"x".repeat(0x5000)}\r\n0\r\n\r\n`,
  );
  assertIs(text, TOO_LARGE);
});

Deno.test("config: pushing it changes nothing of a hosted project's", async () => {
  const { stderr, writes } = await runOnPlatform(["config", "push"]);
  const sections = "api, auth, database, pooler, realtime, storage";
  assertStringIncludes(stderr, sections);
  assertEquals(writes, [], stderr);
});
