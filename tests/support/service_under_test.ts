/**
 * The service under test: an address and two keys. The tasks set `TEST_SERVICE` to `upload`,
 * `supabase` or `remote`; without it, it is the local stack, which runs while a file's tests do.
 */
import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { edgeDeno } from "../../tools/command.ts";
import * as project from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { uploadFunction } from "../deploy/supabase_cli.ts";
import { runStart } from "./processes.ts";
import { checkAt, sendTo } from "./requests.ts";

const { TEST_SERVICE, ...env } = Deno.env.toObject();

/** Whether no test may write: on a hosted project, for which no secret key is given. */
export const isReadOnly = TEST_SERVICE === "remote" && !env.TEST_SECRET_KEY;

/** Its address, which is known within a test, and its keys: "" if none is given. */
export const service = { ...project.LOCAL_SERVICE };
if (TEST_SERVICE === "remote") {
  assert(env.API_URL, "Set API_URL to the address of the project.");
  service.API_URL = env.API_URL;
  service.SECRET_KEY = env.TEST_SECRET_KEY ?? "";
  service.PUBLISHABLE_KEY = env.TEST_PUBLISHABLE_KEY ?? "";
}
const started = new AsyncDisposableStack();
Deno.test.afterAll(() => started.disposeAsync());
Deno.test.beforeAll(async () => {
  if (TEST_SERVICE === "remote" || TEST_SERVICE === "supabase") return;
  const args: string[] = [];
  if (TEST_SERVICE === "upload") {
    const folder = started.use(await makeTempFolder());
    await uploadFunction(folder.url);
    const path = fileURLToPath(folder.url) + project.FUNCTION_FOLDER_PATH;
    args.push(`--function=${path}`, `--deno=${await edgeDeno()}`);
  }
  const stack = started.use(await runStart(project.PROJECT, ...args));
  service.API_URL = stack.url;
});

/** The address of a path at the service. */
export const urlOf = (path: string) => new URL(path, service.API_URL);
const functionUrl = () => urlOf(project.CHECK_PATH);

/** Sends a request, a POST by default, to the service's function. */
export const send = (init: RequestInit) => sendTo(functionUrl(), init);

/** Asks the service's function whether a user holds an active key of a product. */
export const check = (project_id: string, username: string) =>
  checkAt(functionUrl(), project_id, username);

/**
 * Issues a key of a product, by default a new one, for each user; null is no user yet. Disposing of
 * the result removes them.
 */
export async function issueKeys(
  users: (string | null)[],
  project_id: string = crypto.randomUUID(),
) {
  const keys = users.map((curr_user) => {
    return { id: crypto.randomUUID(), project_id, curr_user };
  });
  await changeKeys("POST", "", keys);
  // By key, not by product: the service may have other keys of the product.
  const search = `?id=in.(${keys.map(({ id }) => id)})`;
  const remove = () => changeKeys("DELETE", search);
  return { keys, project_id, [Symbol.asyncDispose]: remove };
}

/** Issues, changes or removes keys as the operator's own back end does: with the secret key. */
export async function changeKeys(
  method: string,
  search: string,
  rows?: unknown,
) {
  const url = urlOf(`/rest/v1/activation_keys${search}`);
  const type = { "Content-Type": "application/json" };
  const headers = { apikey: service.SECRET_KEY, ...type };
  const body = JSON.stringify(rows);
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  assert(response.ok, `${method} ${search}: ${response.status} ${text}`);
}
