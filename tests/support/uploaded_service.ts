import { once } from "node:events";
import { createServer, type IncomingMessage, request as send } from "node:http";
import { pipeline } from "node:stream/promises";
import { edgeDeno } from "../../tools/command.ts";
import { listenOnLoopback } from "../../tools/loopback.ts";
import { FUNCTION_FOLDER_PATH } from "../../tools/project.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { runOnPlatform } from "./management_api.ts";
import { readCommand } from "./pages.ts";

/**
 * Deploys the function with the Supabase CLI to a stand-in, and runs the upload as the platform
 * does: in the edge runtime's version of Deno, with a main worker between gateway and function.
 * Disposing of it ends it.
 */
export async function startUploadedService() {
  const command = await readCommand("README.md", "functions deploy");
  const [upload, ...others] = (await runOnPlatform(command))
    .filter(({ method }) => method !== "GET");
  if (!upload || others.length > 0) throw new Error("One upload was expected");
  const form = await upload.formData();
  const files = form.getAll("file").filter((file) => file instanceof File);

  await using started = new AsyncDisposableStack();
  const root = started.use(await makeTempFolder());
  for (const file of files) {
    const copy = new URL(file.name, root.url);
    await Deno.mkdir(new URL(".", copy), { recursive: true });
    await Deno.writeFile(copy, file.stream());
  }
  const folder = new URL(FUNCTION_FOLDER_PATH, root.url);
  const stack = await startStack({ folder, deno: await edgeDeno() });
  const { service, targets } = started.use(stack);
  const worker = await startMainWorker(targets.edgeFunction.url);
  // From here on, the gateway sends requests through the worker.
  targets.edgeFunction = started.use(worker);
  return Object.assign(started.move(), {
    ...service,
    /** Names of the uploaded files, and what the platform is told about them. */
    files: files.map(({ name }) => name),
    metadata: JSON.parse(`${form.get("metadata")}`),
    workerUrl: worker.url,
  });
}

/**
 * Starts a relay that does what the hosted platform's main worker does between the caller and the
 * function (`ext/workers/user_workers.js` of the edge runtime): it holds a response back until the
 * caller's body ends, or its next piece arrives.
 */
async function startMainWorker(target: string | URL) {
  const server = createServer(async (request, response) => {
    const { url = "", method, headers } = request;
    const outgoing = send(new URL(url, target), { method, headers });
    let hasResponded = false;
    const responded = once(outgoing, "response")
      .finally(() => hasResponded = true);
    const upload = pipeline(request, async function* (pieces) {
      for await (const piece of pieces) {
        // The function has responded: send it no more.
        if (hasResponded) return;
        yield piece;
      }
    }, outgoing);
    // Waits for both. An upload that breaks off may have a response all the same.
    const [result] = await Promise.allSettled([responded, upload]);
    if (result.status === "rejected") return void response.destroy();
    const incoming: IncomingMessage = result.value[0];
    response.writeHead(incoming.statusCode ?? 0, incoming.headers);
    incoming.pipe(response);
  });
  return await listenOnLoopback(server);
}
