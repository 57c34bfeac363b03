/**
 * The page at the local stack's address: Swagger UI, on which one asks the function and issues
 * keys. It is no part of the function, and it is not downloaded before somebody opens it.
 */
import type { ServerResponse } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FUNCTION_FOLDER } from "../project.ts";
import { run } from "../command.ts";
import { VERSIONS } from "../versions.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

/** The OpenAPI documents, by their path. */
const DOCUMENTS: Record<string, URL> = {
  "/openapi.yaml": new URL("openapi.yaml", FUNCTION_FOLDER),
  "/operator.yaml": new URL("operator.yaml", import.meta.url),
};

/** The types of the files that the page names. */
const TYPES: Record<string, string> = {
  "/openapi.yaml": "application/yaml",
  "/operator.yaml": "application/yaml",
  "/favicon-32x32.png": "image/png",
  "/swagger-ui.css": "text/css; charset=utf-8",
  "/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "/swagger-ui-standalone-preset.js": "text/javascript; charset=utf-8",
};

// Deno's cache has what was downloaded once; the browser's would hide an edit or another version.
const UNCACHED = { "Cache-Control": "no-store" };

/** What the browser shows until Swagger UI takes the place of the sentence. */
const LOADING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>check-username-active, local stack</title>
<link rel="icon" href="/favicon-32x32.png">
<style>
  body:has(.swagger-ui) { margin: 0 }
  :root:not(:has(.swagger-ui)) { color-scheme: light dark; font-family: sans-serif }
  pre { white-space: pre-wrap }
</style>
<div id="swagger-ui">
<p>Loading Swagger UI. The first time, it is downloaded from npm (3.7 MB).</p>
</div>
`;

const SWAGGER_UI = `<link rel="stylesheet" href="/swagger-ui.css">
<script src="/swagger-ui-bundle.js"></script>
<script src="/swagger-ui-standalone-preset.js"></script>
<script>
  // This address comes first among the servers of the document, whatever port it has.
  const askHere = () => ({
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (update) => (document) => {
            const here = { url: location.origin, description: "This local stack." };
            const others = (document.servers ?? []).filter(({ url }) => url !== here.url);
            return update({ ...document, servers: [here, ...others] });
          },
        },
      },
    },
  });
  const ui = SwaggerUIBundle({
    dom_id: "#swagger-ui",
    urls: [
      { name: "Ask whether a user is active", url: "/openapi.yaml" },
      { name: "Issue keys (local stack only)", url: "/operator.yaml" },
    ],
    layout: "StandaloneLayout",
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [askHere],
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
</script>
</html>
`;

/**
 * Whether a path is the page's, or that of a file which it names.
 *
 * @param path A path of the stack's address, without a query.
 */
export function isApiPage(path: string): boolean {
  return path === "/" || path in TYPES;
}

/**
 * Responds with the page or with a file that it names. The page comes in two parts, so that it
 * says what it waits for while Swagger UI is downloaded, and then what went wrong, if anything did.
 *
 * @param path One for which `isApiPage` holds.
 * @param response Gets a 503 when a file cannot be read or downloaded.
 */
export async function serveApiPage(
  path: string,
  response: ServerResponse,
): Promise<void> {
  if (path === "/") {
    response.writeHead(200, {
      "Content-Type": "text/html; charset=utf-8",
      ...UNCACHED,
    });
    response.write(LOADING);
    return void response.end(
      await swaggerUi().then(() => SWAGGER_UI, explainOnPage),
    );
  }
  try {
    const file = DOCUMENTS[path] ?? new URL(`.${path}`, await swaggerUi());
    const content = await Deno.readFile(file);
    response.writeHead(200, { "Content-Type": TYPES[path], ...UNCACHED });
    response.end(content);
  } catch (error) {
    response.writeHead(503, { "Content-Type": "text/plain; charset=utf-8" });
    response.end((error as Error).message);
  }
}

let downloaded: Promise<URL> | undefined;

/**
 * Where Swagger UI's files are. They are downloaded when that is first asked, and again after a
 * failure.
 *
 * @throws {Error} With what Deno says, when they cannot be downloaded.
 */
function swaggerUi(): Promise<URL> {
  return downloaded ??= download().catch((error) => {
    downloaded = undefined;
    throw error;
  });
}

/** By a process with a lock file of its own: what is in the project's, every task downloads. */
async function download(): Promise<URL> {
  const { success, stdout, stderr } = await run(
    Deno.execPath(),
    [
      "eval",
      "--quiet",
      "--no-config",
      "--frozen",
      `--lock=${fileURLToPath(new URL("swagger_ui.lock", import.meta.url))}`,
      `import folder from "npm:swagger-ui-dist@${VERSIONS.swaggerUi}/absolute-path.js";
      console.log(folder());`,
    ],
    { env: { NO_COLOR: "1" }, stdin: "null" },
  );
  if (success) return pathToFileURL(`${stdout}/`);
  throw new Error(stderr);
}

/** What the page says when there is no Swagger UI: what happened, and what to do next. */
function explainOnPage({ message }: Error): string {
  const escaped = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<style>#swagger-ui { display: none }</style>
<p>Swagger UI could not be downloaded from npm:</p>
<pre>${escaped}</pre>
<p>When this machine can reach the npm registry, reload this page. The service runs all the same:
the shell lines that <code>deno task start</code> printed work without this page.</p>
</html>
`;
}
