/** What `supabase functions deploy` uploads, and that it runs as it was uploaded. */
import { assert, assertEquals } from "@std/assert";
import { runTests } from "../run_tests.ts";
import { startStack } from "../stack/stack.ts";
import { edgeDeno, supabase } from "./cli.ts";
import { startManagementApi, type Upload } from "./management_api.ts";

const FOLDER = "supabase/functions/check-username-active/";

async function deploy(): Promise<Upload> {
  await using api = await startManagementApi();
  const { code, stderr } = await supabase(
    ["functions", "deploy", "check-username-active", "--use-api", ...api.args],
    { env: api.env },
  );
  assertEquals(code, 0, `supabase functions deploy:\n${stderr}`);
  assertEquals(
    stderr.split("\n").filter((line) => /^WARN/i.test(line)),
    [],
    "mend supabase/config.toml",
  );
  assertEquals(api.uploads.length, 1);
  return api.uploads[0];
}

Deno.test("upload: callers need no token", async () => {
  const { metadata } = await deploy();
  assertEquals(
    metadata.verify_jwt,
    false,
    "config.toml needs verify_jwt = false below [functions.check-username-active]",
  );
});

Deno.test("upload: the function's own files, and nothing else", async () => {
  const { files, metadata } = await deploy();
  const source = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(
    [...files.keys()].sort(),
    source.map((name) => FOLDER + name).sort(),
  );
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
});

Deno.test("upload: it type-checks and passes the contract tests at the edge runtime's level", async () => {
  const deno = await edgeDeno();
  const { files } = await deploy();
  const root = new URL(`file://${await Deno.makeTempDir()}/`);
  try {
    for (const [path, content] of files) {
      const file = new URL(path, root);
      await Deno.mkdir(new URL(".", file), { recursive: true });
      await Deno.writeFile(file, content);
    }
    const folder = new URL(FOLDER, root);
    await using stack = await startStack({ folder, deno });

    const check = await new Deno.Command(deno, {
      args: ["check", "--no-lock", "index.ts"],
      cwd: folder,
    }).output();
    assert(check.success, new TextDecoder().decode(check.stderr));

    // But for what is said of the table: that is not uploaded here.
    const tests = await runTests([
      "tests/contract",
      "--ignore=tests/contract/access_test.ts",
    ], stack.service).output();
    assert(
      tests.success,
      new TextDecoder().decode(tests.stdout) +
        new TextDecoder().decode(tests.stderr),
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("config: pushing it changes nothing of a hosted project's", async () => {
  await using api = await startManagementApi();
  const { code, stderr } = await supabase(["config", "push", ...api.args], {
    env: api.env,
  });
  assertEquals(code, 0, stderr);
  assert(stderr.includes("Comparison scope: api, auth, database"), stderr);
  assertEquals(api.writes, [], stderr);
});
