/** The page at the local stack's address: Swagger UI, to ask the function. */
import type { ServerResponse } from "node:http";
import { PROJECT } from "../project.ts";

/** The paths of the page and of the files that it loads, and their types. */
export const API_PAGE: Record<string, string> = {
  "/": "text/html",
  "/swagger-ui.css": "text/css",
  "/favicon-32x32.png": "image/png",
  "/swagger-ui-bundle.js": "text/javascript",
  "/openapi.yaml": "application/yaml",
};

/** Responds with one of `API_PAGE`. Reads its file each time, so that an edit shows at once. */
export async function serveApiPage(path: string, response: ServerResponse) {
  const content = await contentOf(path);
  response.setHeader("Content-Type", API_PAGE[path] ?? "");
  // Another version of the project may be next at this address.
  response.setHeader("Cache-Control", "no-store").end(content);
}

async function contentOf(path: string): Promise<string | Uint8Array> {
  if (path === "/openapi.yaml") {
    const file = new URL("supabase/clients/openapi.yaml", PROJECT);
    const document = await Deno.readTextFile(file);
    // The page sends its requests to the first server: to this address, whatever its port.
    return document.replace("\nservers:\n", "\nservers:\n  - url: /\n");
  }
  const file = path === "/" ? "./api_page.html" : `swagger-ui-dist${path}`;
  return await Deno.readFile(new URL(import.meta.resolve(file)));
}
