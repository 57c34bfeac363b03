/** What `supabase functions deploy` uploads, and that it runs as it was uploaded. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  FUNCTION_FOLDER_PATH as FOLDER,
  PROJECT,
} from "../../tools/project.ts";
import { edgeDeno } from "../../tools/edge_deno.ts";
import { TIMEOUT, TOO_LARGE } from "../support/answers.ts";
import { cliCommand } from "../support/pages.ts";
import { assertIs, exchange, post, raw, read, write } from "../support/wire.ts";
import { LIMITS } from "../support/limits.ts";
import { startMainWorker } from "./main_worker.ts";
import { assertTooLargeArrives } from "../support/large_bodies.ts";
import {
  downloadAndStartFunction,
  downloadPackages,
} from "../../tools/stack/function_process.ts";
import { type Output, run } from "../../tools/command.ts";
import { LOCAL_SERVICE, platformEnv } from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { supabase, warnings } from "../../tools/supabase_cli.ts";
import { startManagementApi, type Upload } from "./management_api.ts";

/** Runs a command that deploys to a stand-in for the platform. Gives what that got. */
async function uploadOf(
  command: (args: string[], env: Record<string, string>) => Promise<Output>,
): Promise<Upload> {
  await using api = await startManagementApi();
  const { success, stderr } = await command(api.args, api.env);
  assert(success, stderr);
  assertEquals(warnings(stderr), [], "fix supabase/config.toml");
  const [upload, ...others] = api.uploads;
  if (!upload || others.length > 0) throw new Error("It uploads once");
  return upload;
}

const DEPLOY = await cliCommand("functions deploy");
const UPLOADS = {
  source: await uploadOf((args, env) =>
    supabase([...DEPLOY, ...args], { env })
  ),
  bundle: await uploadOf((args, env) =>
    run(Deno.execPath(), ["task", "deploy", ...args], { cwd: PROJECT, env })
  ),
};

Deno.test("upload: callers need no token", () => {
  const { source, bundle } = UPLOADS;
  const needed = "config.toml needs verify_jwt = false for the function";
  assertEquals(source.metadata.verify_jwt, false, needed);
  assertEquals(bundle.metadata.verify_jwt, false, needed);
});

for (const [what, upload] of Object.entries(UPLOADS)) {
  Deno.test(`upload: it passes the contract tests at the edge runtime's level (${what})`, async () => {
    const deno = await edgeDeno();
    await using uploaded = await unpack(upload);
    await using stack = await startStack({ folder: uploaded.folder, deno });
    await using worker = await startMainWorker(stack.service.API_URL);
    // access_test.ts is left out: it tests the table, which is not part of an upload.
    const { success, stdout, stderr } = await run(Deno.execPath(), [
      "test",
      "--allow-all",
      "tests/contract",
      "--ignore=tests/contract/access_test.ts",
    ], { cwd: PROJECT, env: { ...stack.service, API_URL: worker.url } });
    assert(success, stdout + stderr);
  });
}

Deno.test("upload: through the platform's relay, whoever goes on sending gets its response", async () => {
  const deno = await edgeDeno();
  await using uploaded = await unpack(UPLOADS.source);
  await using edgeFunction = await downloadAndStartFunction({
    folder: uploaded.folder,
    deno,
    env: platformEnv(LOCAL_SERVICE),
  });
  await using worker = await startMainWorker(edgeFunction.url.href);
  const url = new URL(worker.url);
  await assertTooLargeArrives(url, Deno.execPath(), "run", "--allow-net");
  await assertTooLargeArrives(url, "node");

  // Whoever falls silent gets it only with the next byte.
  await raw(url, async (connection) => {
    await write(connection, post("Content-Length: 60") + "{");
    let isSilent = true;
    const response = read(connection).then((text) => ({ text, isSilent }));
    await sleep(LIMITS.bodyMs + 2_000);
    isSilent = false;
    await write(connection, "}");
    const { text, ...received } = await response;
    assertIs(text, TIMEOUT);
    assertEquals(received.isSilent, false);
  });

  // This Deno takes a declared length beside chunks.
  const text = await exchange(
    edgeFunction.url,
    post("Content-Length: 5\r\nTransfer-Encoding: chunked") +
      `5000\r\n${"x".repeat(0x5000)}\r\n0\r\n\r\n`,
  );
  assertIs(text, TOO_LARGE);
});

Deno.test("upload: the function's own files, and nothing else", () => {
  const { files, metadata } = UPLOADS.source;
  const source = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(
    [...files.keys()].sort(),
    source.map((name) => FOLDER + name).sort(),
  );
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
});

Deno.test("upload: a bundle holds its packages and no source", () => {
  assertEquals(
    [...UPLOADS.bundle.files.keys()].sort(),
    ["bundle.js", "deno.json", "index.ts"].map((name) => FOLDER + name),
  );
});

Deno.test("upload: it type-checks at the edge runtime's level", async () => {
  const deno = await edgeDeno();
  await using uploaded = await unpack(UPLOADS.source);
  await downloadPackages({ folder: uploaded.folder, deno });
  const { success, stderr } = await run(
    deno,
    ["check", "--no-lock", "index.ts"],
    { cwd: uploaded.folder },
  );
  assert(success, stderr);
});

Deno.test("config: pushing it changes nothing of a hosted project's", async () => {
  await using api = await startManagementApi();
  const { code, stderr } = await supabase(["config", "push", ...api.args], {
    env: api.env,
  });
  assertEquals(code, 0, stderr);
  assertStringIncludes(
    stderr,
    "api, auth, database, pooler, realtime, storage",
  );
  assertEquals(api.writes, [], stderr);
});

/** Puts the uploaded files into an empty folder. */
async function unpack({ files }: Upload) {
  const root = await makeTempFolder();
  for (const [path, content] of files) {
    const file = new URL(path, root.url);
    await Deno.mkdir(new URL(".", file), { recursive: true });
    await Deno.writeFile(file, content);
  }
  return { ...root, folder: new URL(FOLDER, root.url) };
}
