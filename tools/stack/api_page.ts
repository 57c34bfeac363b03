/** The page at the local stack's address: Swagger UI, to ask the function and to issue keys. */
import type { ServerResponse } from "node:http";
import { FUNCTION_FOLDER } from "../project.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

/** The paths of the page and of the files that it loads, and their types. */
export const API_PAGE: Record<string, string> = {
  "/": "text/html",
  "/index.css": "text/css",
  "/swagger-ui.css": "text/css",
  "/favicon-16x16.png": "image/png",
  "/favicon-32x32.png": "image/png",
  "/swagger-ui-bundle.js": "text/javascript",
  "/swagger-ui-standalone-preset.js": "text/javascript",
  "/swagger-initializer.js": "text/javascript",
  "/openapi.yaml": "application/yaml",
  "/operator.yaml": "application/yaml",
};

/** What the page of Swagger UI runs, in the place of its own file. */
const INITIALIZER = `
document.title = "check-username-active, local stack";
const ui = SwaggerUIBundle({
  dom_id: "#swagger-ui",
  urls: [
    { name: "Ask whether a user is active", url: "/openapi.yaml" },
    { name: "Issue keys (local stack only)", url: "/operator.yaml" },
  ],
  layout: "StandaloneLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  docExpansion: "full",
  defaultModelsExpandDepth: -1,
  tryItOutEnabled: true,
  validatorUrl: null,
  // 499 means "no". Swagger UI would add "Error: response status is 499".
  responseInterceptor: (response) => {
    if (response.status === 499) response.ok = true;
    return response;
  },
  onComplete: () => ui.preauthorizeApiKey("secretKey", "${LOCAL_SERVICE.SECRET_KEY}"),
});
`;

/** Responds with one of `API_PAGE`. Reads its file each time, so that an edit shows at once. */
export async function serveApiPage(path: string, response: ServerResponse) {
  const content = await contentOf(path);
  response.setHeader("Content-Type", API_PAGE[path] ?? "");
  // Another version of the project may be next at this address.
  response.setHeader("Cache-Control", "no-store").end(content);
}

async function contentOf(path: string): Promise<string | Uint8Array> {
  if (path === "/swagger-initializer.js") return INITIALIZER;
  if (!path.endsWith(".yaml")) {
    const name = path === "/" ? "/index.html" : path;
    const file = import.meta.resolve(`swagger-ui-dist${name}`);
    return await Deno.readFile(new URL(file));
  }
  const folder = path === "/openapi.yaml" ? FUNCTION_FOLDER : import.meta.url;
  const document = await Deno.readTextFile(new URL(`.${path}`, folder));
  // The page sends its requests to the first server: to this address, whatever its port.
  return document.replace("\nservers:\n", "$&  - url: /\n");
}
