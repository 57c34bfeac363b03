/**
 * The page of `deno task start` while Swagger UI is downloaded, and when that fails. It is here
 * because it changes the environment of the whole process, so no other test may run beside it.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { startGateway } from "../../tools/stack/gateway.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";

Deno.test("start: the page says what it waits for, what failed, and loads after that", async () => {
  await using gateway = await startGateway(0, {
    dataApi: () => undefined,
    edgeFunction: () => undefined,
  });
  await using emptyCache = await makeTempFolder();
  // A registry that takes a connection, and stays silent until the network goes away.
  const registry = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connection = registry.accept().catch(() => undefined);
  await using network = new AsyncDisposableStack();
  network.defer(async () => (await connection)?.close());
  network.defer(() => registry.close());
  const npm = `http://127.0.0.1:${registry.addr.port}/`;
  {
    using _environment = setEnvironment({
      DENO_DIR: fileURLToPath(emptyCache.url),
      NPM_CONFIG_REGISTRY: npm,
    });
    const response = await fetch(gateway.url, {
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.body) throw new Error("The page has no body");
    const reader = response.body.pipeThrough(new TextDecoderStream())
      .getReader();
    const { value: loading = "" } = await reader.read();
    assertStringIncludes(loading, "Loading Swagger UI.");

    await connection;
    await network.disposeAsync();
    const { value: failed = "" } = await reader.read();
    assertStringIncludes(failed, "Swagger UI could not be downloaded from npm");
    assertStringIncludes(failed, npm);
    assertStringIncludes(failed, "reload this page");
    assertStringIncludes(failed, "the shell lines");
    assert((await reader.read()).done);

    const file = await fetch(new URL("/swagger-ui.css", gateway.url));
    assertEquals(file.status, 503);
    assertStringIncludes(await file.text(), npm);
  }
  const page = await (await fetch(gateway.url)).text();
  assertStringIncludes(page, "/swagger-ui-bundle.js");
});

/** Sets variables for processes that start later. Disposing of it restores them. */
function setEnvironment(variables: Record<string, string>): DisposableStack {
  const changed = new DisposableStack();
  for (const [name, value] of Object.entries(variables)) {
    const before = Deno.env.get(name);
    changed.defer(() =>
      before === undefined ? Deno.env.delete(name) : Deno.env.set(name, before)
    );
    Deno.env.set(name, value);
  }
  return changed;
}
