/** The page that `deno task start` serves at its address, without a browser. */
import { assertEquals } from "@std/assert";
import { FUNCTION_FOLDER_PATH, FUNCTION_PATH } from "../../tools/project.ts";
import { LOCAL_SERVICE } from "../../tools/stack/local_service.ts";
import { copyProject } from "../support/project_copy.ts";
import { startReady } from "../support/start_process.ts";

Deno.test("start: serves a page at its address", async (context) => {
  await using copy = await copyProject();
  await using running = await startReady(copy.url);
  const get = (path: string, init?: RequestInit) =>
    fetch(new URL(path, running.base), init);

  await context.step("its files are there, with their types", async () => {
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
  });

  await context.step("an edit of openapi.yaml shows", async () => {
    const path = `${FUNCTION_FOLDER_PATH}openapi.yaml`;
    const served = async () => await (await get("/openapi.yaml")).text();
    const document = await Deno.readTextFile(new URL(path, copy.url));
    assertEquals(await served(), document);
    const edited = await copy.edit(path, "title: ", "title: EDITED ");
    assertEquals(await served(), edited);
  });

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

  await context.step("a browser's secret key → 401, except here", async () => {
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
  });
});
