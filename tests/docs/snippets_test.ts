/** The README's snippets, taken out of it and run against the local stack. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROJECT } from "../../tools/project.ts";
import { issueKeys, service } from "../support/service.ts";
import { openDatabase } from "../../tools/stack/database.ts";

const README = await Deno.readTextFile(new URL("README.md", PROJECT));
const LOCAL = "http://127.0.0.1:54321";
const SEEDED = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";
const DOWN = "http://127.0.0.1:9";

/** The one block of that language which says this, for another service and project. */
function snippet(language: string, says: string, base: string, id: string) {
  const blocks = README.matchAll(
    new RegExp("```" + language + "\\n([^]*?)```", "g"),
  ).map(([, code = ""]) => code).filter((code) => code.includes(says));
  const [block = "", ...others] = blocks;
  assert(
    block && others.length === 0,
    `README.md: one ${language} block with ${says}`,
  );
  return block.replaceAll(LOCAL, base).replaceAll(SEEDED, id);
}

async function run(command: string, args: string[]) {
  try {
    const output = await new Deno.Command(command, { args }).output();
    return {
      stdout: new TextDecoder().decode(output.stdout).trim(),
      stderr: new TextDecoder().decode(output.stderr).trim(),
    };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`This test needs ${command}: install it`);
  }
}

/** What one question gives, by language: the answer, and what was logged. */
const ASK: Record<
  string,
  (base: string, id: string, user: string) => Promise<{
    stdout: string;
    stderr: string;
  }>
> = {
  JavaScript: (base, id, user) =>
    run(Deno.execPath(), [
      "eval",
      `${snippet("js", "checkActive", base, id)}
       console.log(await checkActive(${JSON.stringify(user)}));`,
    ]),
  Python: (base, id, user) =>
    run("python3", [
      "-c",
      `${snippet("python", "check_active", base, id)}
print(check_active(${JSON.stringify(user)}))`,
    ]),
};

for (const [language, ask] of Object.entries(ASK)) {
  Deno.test(`snippet: ${language} asks once, and takes every answer for what it is`, async () => {
    const { API_URL } = service;
    await using project = await issueKeys(["Zoë#4821"]);
    assertEquals((await ask(API_URL, project.id, "Zoë#4821")).stdout, "active");
    assertEquals(
      (await ask(API_URL, project.id, "zoë#4821")).stdout,
      "inactive",
    );
    assertEquals((await ask(DOWN, project.id, "Zoë#4821")).stdout, "no answer");

    const mistake = await ask(API_URL, "no UUID", "Zoë#4821");
    assertEquals(mistake.stdout, "mistake");
    assertStringIncludes(mistake.stderr, "Invalid username or project_id");

    await using broken = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    );
    const { port } = broken.addr;
    assertEquals(
      (await ask(`http://127.0.0.1:${port}`, project.id, "a")).stdout,
      "no answer",
    );
  });
}

Deno.test("snippet: JavaScript unlocks, locks with a reason, and does neither without an answer", async () => {
  await using project = await issueKeys(["Amelia"]);
  const keepAsking = (base: string, user: string) =>
    run(Deno.execPath(), [
      "eval",
      `${snippet("js", "keepAsking", base, project.id)}
       const pauses = [];
       const wait = setTimeout;
       let timers = 0;
       // Each question sets a time-out, and then a pause, which passes at once here. Four will do.
       globalThis.setTimeout = (next, ms) => {
         if (++timers % 2 === 1) return wait(next, ms);
         if (pauses.push(ms) < 4) return wait(next, 0);
         console.log("pauses", ...pauses);
         Deno.exit();
       };
       await keepAsking("${user}", () => console.log("unlock"), (why) => console.log("lock:", why));`,
    ]);
  assertEquals((await keepAsking(service.API_URL, "Amelia")).stdout, "unlock");
  assertEquals(
    (await keepAsking(service.API_URL, "Bessie")).stdout,
    "lock: Not active for this product yet: fly it once.",
  );
  assertEquals(
    (await keepAsking(DOWN, "Amelia")).stdout,
    "pauses 5000 10000 20000 40000",
  );
});

Deno.test("snippet: Python keeps asking with growing pauses, and never longer than ten minutes", async () => {
  await using project = await issueKeys(["Amelia"]);
  const code = snippet("python", "keep_asking", DOWN, project.id);
  const { stdout } = await run("python3", [
    "-c",
    `${code}
pauses = []
def sleep(seconds):
    pauses.append(seconds)
    if len(pauses) == 9:
        print(*pauses)
        sys.exit()
time.sleep = sleep
keep_asking("Amelia")`,
  ]);
  assertEquals(stdout, "5 10 20 40 80 160 320 600 600");
});

Deno.test("snippet: curl prints the status, and 000 without an answer", async () => {
  await using project = await issueKeys(["CaptainKirin#0417"]);
  const ask = async (base: string, id: string) => {
    const code = snippet("sh", "write-out", base, id);
    return (await run("sh", ["-c", code])).stdout;
  };
  assertEquals(await ask(service.API_URL, project.id), "200");
  assertEquals(await ask(service.API_URL, crypto.randomUUID()), "499");
  assertEquals(await ask(DOWN, project.id), "000");
});

Deno.test("snippet: the first curl answers as the README says, with the seed", async () => {
  const code = snippet("sh", "curl -i", service.API_URL, SEEDED);
  const { stdout } = await run("sh", ["-c", code]);
  assertStringIncludes(stdout, "HTTP/1.1 200 OK");
  assertStringIncludes(stdout, '{"success":true}');
});

Deno.test("snippet: the SQL for keys does what it says", async () => {
  await using database = await openDatabase();
  await database.exec("set role service_role");

  const [issue = "", firstUse = "", move = "", release = "", remove = ""] =
    snippet(
      "sql",
      "-- Issue a key",
      LOCAL,
      SEEDED,
    ).trim().split("\n\n");
  const { rows: [key] } = await database.query<{ id: string }>(issue);
  const user = async (statement: string) => {
    await database.exec(statement.replace("<key>", key?.id ?? ""));
    const { rows } = await database.query<{ curr_user: string | null }>(
      "select curr_user from public.activation_keys",
    );
    return rows.map((row) => row.curr_user);
  };
  assertEquals(await user(firstUse), ["Amelia#1937"]);
  assertEquals(await user(move), ["Amelia#1938"]);
  assertEquals(await user(firstUse), ["Amelia#1938"]);
  assertEquals(await user(release), [null]);
  assertEquals(await user(remove), []);
});
