/** What the README says of the project is so. */
import { assert, assertEquals } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";

const README = await Deno.readTextFile(new URL("README.md", PROJECT));

Deno.test("readme: every link into the project leads somewhere", async () => {
  const headings = README.matchAll(/^#+ (.+)$/gm).map(([, text = ""]) =>
    text.toLowerCase().replaceAll(/[^\w\s-]/g, "").replaceAll(" ", "-")
  ).toArray();
  for (const [, target = ""] of README.matchAll(/\]\(([^)]+)\)/g)) {
    if (target.startsWith("http")) continue;
    if (target.startsWith("#")) {
      assert(headings.includes(target.slice(1)), target);
    } else {
      await Deno.stat(new URL(target, PROJECT));
    }
  }
});

Deno.test("readme: it names every task", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", PROJECT)),
  );
  const named = README.matchAll(/^\| `([\w:]+)(?: --\w+)?` +\|/gm)
    .map(([, name = ""]) => name).filter((name) => name in tasks).toArray();
  assertEquals(named.sort(), Object.keys(tasks).sort());
});

Deno.test("readme: its table of the contract has every error of the OpenAPI document", async () => {
  const document = await Deno.readTextFile(
    new URL(
      "supabase/functions/check-username-active/openapi.yaml",
      PROJECT,
    ),
  );
  const errors = document.matchAll(/^ +error: (.+)$/gm).map(([, text]) => text);
  for (const error of errors) {
    assert(README.includes(`\`{"error":"${error}"}\``), error);
  }
});

Deno.test("readme: it deploys with the commands that the deploy tests run", async () => {
  const [migrations, uploads] = await Promise.all(
    ["migration_test.ts", "upload_test.ts"].map((name) =>
      Deno.readTextFile(new URL(`tests/deploy/${name}`, PROJECT))
    ),
  );
  for (
    const [command = "", tests = ""] of [
      ["db push", migrations],
      ["migration repair 20261121000000 --status=applied", migrations],
      ["functions deploy check-username-active", uploads],
    ]
  ) {
    assert(README.includes(`\nsupabase ${command}`), command);
    const args = command.split(" ").map((arg) =>
      arg === "20261121000000" ? "VERSION" : JSON.stringify(arg)
    );
    assert(tests.includes(args.join(", ")), args.join(", "));
  }
});
