/**
 * The service under test, for the contract tests and others that send requests to it: an address
 * and two API keys. The tasks set `TEST_SERVICE` to `upload`, `supabase` or `remote`. Without it,
 * the service is the local stack, which runs while the tests of a file do.
 */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { NO_FUNCTION } from "../../tools/gateway.ts";
import * as project from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { uploadFunction } from "./operators.ts";
import { runStart } from "./processes.ts";
import { askAt, sendTo } from "./requests.ts";

const { TEST_SERVICE, ...env } = Deno.env.toObject();

/** Whether tests may not write: on a hosted project without a secret key. */
export const isReadOnly = TEST_SERVICE === "remote" && !env.TEST_SECRET_KEY;

/** The address, which is known once a test runs, and the API keys: "" if none is given. */
export const settings = { ...project.LOCAL_SERVICE };
if (TEST_SERVICE === "remote") {
  assert(env.API_URL, "Set API_URL to the address of the project.");
  settings.API_URL = env.API_URL;
  settings.SECRET_KEY = env.TEST_SECRET_KEY ?? "";
  settings.PUBLISHABLE_KEY = env.TEST_PUBLISHABLE_KEY ?? "";
}
// Before the first test of a file, starts the local stack, unless the service runs already. For
// `upload`, the stack runs the files that the Supabase CLI would upload.
const started = new AsyncDisposableStack();
Deno.test.afterAll(() => started.disposeAsync());
Deno.test.beforeAll(async () => {
  if (TEST_SERVICE === "remote") return;
  if (TEST_SERVICE === "supabase") return await assertNotLocalStack();
  const args: string[] = [];
  if (TEST_SERVICE === "upload") {
    const folder = started.use(await makeTempFolder());
    await uploadFunction(folder.url);
    args.push(`--deployed=${fileURLToPath(folder.url)}${project.FUNCTION_FOLDER_PATH}`);
  }
  const stack = started.use(await runStart(project.PROJECT, ...args));
  settings.API_URL = stack.url;
});

/** `task start` has the address and the keys of `supabase start`, but no PostgREST. */
async function assertNotLocalStack() {
  const response = await fetch(urlOf("/functions/v1/")).catch(() => null);
  assert(response, `Nothing listens at ${settings.API_URL}: run \`supabase start\` first.`);
  const isLocalStack = (await response.text()).includes(NO_FUNCTION);
  assert(!isLocalStack, "This is `task start`: end it, and run `supabase start` in its place.");
}

/** Returns the address of a path at the service. */
const urlOf = (path: string) => new URL(path, settings.API_URL);
const functionUrl = () => urlOf(project.CHECK_PATH);

/** For tests of the contract: sends a request, a POST by default, to the function. */
export const send = (init: RequestInit) => sendTo(functionUrl(), init);

/** For tests that only ask: whether a user holds an active key of a product. */
export const ask = (project_id: string, username: string) =>
  askAt(functionUrl(), project_id, username);

/**
 * For tests that need keys: issues one for each user, of a product that is new by default, and
 * activates it. `null` is a key that nobody has used. Disposing of the result revokes the keys.
 */
export async function issueKeys(
  users: (string | null)[],
  project_id: string = crypto.randomUUID(),
) {
  const issued = await Promise.all(users.map(async (username) => {
    const order_item = `test ${crypto.randomUUID()}`;
    const key = String(await callFunction("issue_key", { order_item, project_id }));
    if (username !== null) await callFunction("activate_key", { key, project_id, username });
    return { order_item, key };
  }));
  const revokeKeys = async () => {
    const calls = issued.map(({ order_item }) => ({ order_item, project_id }));
    await Promise.all(calls.map((values) => callFunction("revoke_key", values)));
  };
  const keys = issued.map(({ key }) => key);
  return { project_id, keys, revokeKeys, [Symbol.asyncDispose]: revokeKeys };
}

/**
 * For tests that issue, activate or revoke a key: calls a function of the database, as a back end
 * does, with the secret key. Returns what the function returns. Fails if the call fails.
 */
export async function callFunction(name: string, values: object): Promise<unknown> {
  const { status, text } = await callDataApi("POST", `rpc/${name}`, values);
  assertEquals(status, 200, `${name}: ${text}`);
  return JSON.parse(text);
}

/**
 * For tests of the Data API: sends a request to a path of it, with JSON, and with the secret key by
 * default. Returns the status and the text of the response.
 */
export async function callDataApi(
  method: string,
  path: string,
  json?: unknown,
  apikey = settings.SECRET_KEY,
) {
  const headers = {
    "Content-Type": "application/json",
    // Otherwise, PostgREST would take the first schema that the project exposes.
    "Accept-Profile": "public",
    "Content-Profile": "public",
    ...(apikey && { apikey }),
  };
  const init = { method, headers, body: json === undefined ? null : JSON.stringify(json) };
  const response = await fetch(urlOf(`/rest/v1/${path}`), init);
  return { status: response.status, text: await response.text() };
}
