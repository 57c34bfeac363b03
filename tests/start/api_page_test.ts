/** The page that `deno task start` serves at its address, without a browser. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { FUNCTION_FOLDER_PATH, FUNCTION_PATH } from "../../tools/project.ts";
import { startGateway } from "../../tools/stack/gateway.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { copyProject } from "../support/project_copy.ts";
import { startReady } from "../support/start_process.ts";

Deno.test("start: serves a page at its address", async (context) => {
  await using copy = await copyProject();
  const { port, start } = await startReady(copy.url);
  await using _running = start;
  const get = (path: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${port}${path}`, init);

  await context.step(
    "every file that it names is there, with its type",
    async () => {
      const page = await get("/");
      assertEquals(page.status, 200);
      assertEquals(
        page.headers.get("content-type"),
        "text/html; charset=utf-8",
      );
      const named = (await page.text())
        .matchAll(/(?:href=|src=|url: )"([^"]*)"/g)
        .map(([, path = ""]) => path);
      const types: Record<string, string | null> = {};
      for (const path of named) {
        const response = await get(path);
        assertEquals(response.status, 200, path);
        assertEquals((await response.text()).length > 0, true, path);
        types[path] = response.headers.get("content-type");
      }
      assertEquals(types, {
        "/favicon-32x32.png": "image/png",
        "/swagger-ui.css": "text/css; charset=utf-8",
        "/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "/swagger-ui-standalone-preset.js": "text/javascript; charset=utf-8",
        "/openapi.yaml": "application/yaml",
        "/operator.yaml": "application/yaml",
      });
    },
  );

  await context.step(
    "an edit of openapi.yaml shows at the next load",
    async () => {
      const file = new URL(`${FUNCTION_FOLDER_PATH}openapi.yaml`, copy.url);
      const served = async () => await (await get("/openapi.yaml")).text();
      const document = await Deno.readTextFile(file);
      assertEquals(await served(), document);
      const edited = document.replace("title: ", "title: EDITED ");
      await Deno.writeTextFile(file, edited);
      assertEquals(await served(), edited);
    },
  );

  for (
    const [method, path] of [
      ["GET", "/docs"],
      ["GET", "/index.html"],
      ["GET", "/swagger-ui.js"],
      ["POST", "/"],
      ["POST", "/openapi.yaml"],
    ] as const
  ) {
    await context.step(`${method} ${path} → 404`, async () => {
      const response = await get(path, { method });
      assertEquals(response.status, 404);
      assertEquals(await response.json(), {
        message: `Nothing here but ${FUNCTION_PATH} and /rest/v1/`,
      });
    });
  }

  await context.step(
    "a secret key from a browser → 401, except from the page",
    async () => {
      const status = async (headers: Record<string, string>) => {
        const response = await get("/rest/v1/activation_keys", {
          headers: {
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64)",
            apikey: LOCAL_SERVICE.SECRET_KEY,
            ...headers,
          },
        });
        await response.body?.cancel();
        return response.status;
      };
      assertEquals(await status({}), 401);
      assertEquals(await status({ "Sec-Fetch-Site": "cross-site" }), 401);
      assertEquals(await status({ "Sec-Fetch-Site": "same-site" }), 401);
      assertEquals(await status({ "Sec-Fetch-Site": "same-origin" }), 200);
    },
  );
});

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
function setEnvironment(variables: Record<string, string>): Disposable {
  const before = Object.keys(variables).map((name) =>
    [name, Deno.env.get(name)] as const
  );
  for (const [name, value] of Object.entries(variables)) {
    Deno.env.set(name, value);
  }
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        if (value === undefined) Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    },
  };
}
