/** `deno task start`, as somebody at a terminal meets it. */
import { assert, assertEquals, assertMatch } from "@std/assert";

const PROJECT = new URL("../../", import.meta.url);

function start(port: number): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", "--port", `${port}`],
    cwd: PROJECT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("start: it prints address, keys and a working curl line, and Ctrl-C ends all of it", async () => {
  const port = freePort();
  const child = start(port);
  const errors = new Response(child.stderr).text();
  let output = "";
  for await (const chunk of child.stdout.values({ preventCancel: true })) {
    output += new TextDecoder().decode(chunk);
    if (output.includes("Ctrl-C")) break;
  }

  const url = `http://127.0.0.1:${port}`;
  const positions = [
    `API_URL=${url}\n`,
    "PUBLISHABLE_KEY=sb_publishable_",
    "SECRET_KEY=sb_secret_",
    `curl -i ${url}/functions/v1/check-username-active`,
  ].map((text) => output.indexOf(text));
  assert(positions.every((at) => at >= 0), output);
  assertEquals(positions, positions.toSorted((a, b) => a - b), output);

  const [, address = "", body = ""] = output.match(/curl -i (\S+) -d '(.*)'/) ??
    [];
  const response = await fetch(address, { method: "POST", body });
  assertEquals([response.status, await response.text()], [
    200,
    '{"success":true}',
  ]);

  child.kill("SIGINT");
  await child.stdout.cancel();
  const patience = setTimeout(() => child.kill("SIGKILL"), 10_000);
  assertEquals((await child.status).code, 0, "it should end by itself");
  clearTimeout(patience);
  assert(!(await errors).includes("rror"), await errors);
  // Nothing listens any more: the port can be taken.
  Deno.listen({ hostname: "127.0.0.1", port }).close();
});

Deno.test("start: a taken port is said with the way round it", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const { code, stdout, stderr } = await start(port).output();
  const message = new TextDecoder().decode(stderr);
  assertEquals([code, new TextDecoder().decode(stdout)], [1, ""]);
  assertMatch(message, new RegExp(`Port ${port} is taken`));
  assertMatch(message, /deno task start --port \d+/);
});

Deno.test("start: a port that is none is refused", async () => {
  const { code, stderr } = await start(99_999).output();
  assertEquals(code, 1);
  assertMatch(
    new TextDecoder().decode(stderr),
    /--port takes a number from 0 to 65535/,
  );
});
