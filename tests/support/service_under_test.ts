/**
 * The service under test, which tests know only by its address and its keys. `TEST_SERVICE` says
 * which one it is: `local` (if not set), `upload`, `supabase` or `remote`. Importing this module
 * starts the service before the tests of a file, if need be, and ends it after them.
 */
import { assert, assertMatch } from "@std/assert";
import { FUNCTION_URL_PATH } from "../../tools/project.ts";
import {
  LOCAL_SERVICE,
  type Service,
} from "../../tools/stack/local_service.ts";
import { startStack } from "../../tools/stack/stack.ts";
import { checkAt, sendTo } from "./requests.ts";
import { startUploadedService } from "./uploaded_service.ts";

const which = Deno.env.get("TEST_SERVICE") ?? "local";
assertMatch(which, /^(local|upload|supabase|remote)$/, "TEST_SERVICE");

/** Whether no test may write to the service. */
export const isReadOnly = which === "remote";

let service: Awaited<ReturnType<typeof start>>;
Deno.test.beforeAll(async () => {
  service = await start();
});
Deno.test.afterAll(async () => await service?.[Symbol.asyncDispose]?.());

/** Returns the service's address and keys. For use within a test. */
export const serviceUnderTest = (): Service => service;

const functionUrl = () => service.API_URL + FUNCTION_URL_PATH;

/** Sends a request, a POST by default, to the service's function. */
export const send = (init: RequestInit) => sendTo(functionUrl(), init);

/** Asks the service's function whether a user holds an active key of a product. */
export const check = (project_id: string, username: string) =>
  checkAt(functionUrl(), project_id, username);

/** Registers a test that issues keys. It is left out where none may be written. */
export const testWithKeys = (name: string, fn: () => Promise<void>) =>
  Deno.test(name, { ignore: isReadOnly }, fn);

/**
 * Issues a key of a product, by default a new one, for each user; null is no user yet. Disposing of
 * the result removes the keys.
 */
export async function issueKeys(
  users: (string | null)[],
  project_id: string = crypto.randomUUID(),
) {
  const keys = users.map((curr_user) => {
    return { id: crypto.randomUUID(), project_id, curr_user };
  });
  await changeKeys("POST", "", keys);
  // By key, not by product: `API_URL` may be a project with other keys of the product.
  const search = `?id=in.(${keys.map(({ id }) => id)})`;
  const remove = () => changeKeys("DELETE", search);
  return { project_id, [Symbol.asyncDispose]: remove };
}

/** Issues, changes or removes keys as the operator's own back end does: with the secret key. */
export async function changeKeys(
  method: "POST" | "PATCH" | "DELETE",
  search: string,
  rows?: unknown,
): Promise<void> {
  const { API_URL, SECRET_KEY: apikey } = service;
  const url = `${API_URL}/rest/v1/activation_keys${search}`;
  const headers = { apikey, "Content-Type": "application/json" };
  const body = JSON.stringify(rows);
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  assert(response.ok, `${method} ${search}: ${response.status} ${text}`);
}

/** Starts the service, or returns that of `API_URL`, which has nothing to dispose of. */
async function start(): Promise<Service & Partial<AsyncDisposable>> {
  if (which === "upload") return await startUploadedService();
  if (which === "local") {
    const stack = await startStack();
    return Object.assign(stack, stack.service);
  }
  const env = Deno.env.toObject();
  const url = isReadOnly ? env.API_URL : env.API_URL ?? LOCAL_SERVICE.API_URL;
  if (!url) throw new Error("Set API_URL to the address of the project.");
  // `supabase start` has these keys on every machine. `remote` uses none.
  return {
    API_URL: url.replace(/\/$/, ""),
    PUBLISHABLE_KEY: env.TEST_PUBLISHABLE_KEY ?? LOCAL_SERVICE.PUBLISHABLE_KEY,
    SECRET_KEY: env.TEST_SECRET_KEY ?? LOCAL_SERVICE.SECRET_KEY,
  };
}
