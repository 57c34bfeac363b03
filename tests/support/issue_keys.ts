import { assert } from "@std/assert";
import { isReadOnly, serviceUnderTest } from "./service_under_test.ts";

/** Registers a test that issues keys. Without the secret key, it is left out. */
export function testWithKeys(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: isReadOnly, fn });
}

/**
 * Issues keys of a new project, through the Data API.
 *
 * @param users The current user of each key; null for a key that nobody has used yet.
 * @param id The new project's id.
 * @returns That id. Disposing of it removes the keys.
 */
export async function issueKeys(
  users: (string | null)[],
  id: string = crypto.randomUUID(),
): Promise<AsyncDisposable & { id: string }> {
  const keys = users.map((curr_user) => ({
    id: crypto.randomUUID(),
    project_id: id,
    curr_user,
  }));
  await dataApi("POST", "", keys);
  const ids = keys.map((key) => key.id).join(",");
  return {
    id,
    // By key, not by project: a deployed service may hold keys of a project with that id.
    [Symbol.asyncDispose]: () => dataApi("DELETE", `?id=in.(${ids})`),
  };
}

/** Changes or removes keys as the operator's own back end does: with the secret key. */
export async function dataApi(
  method: "POST" | "PATCH" | "DELETE",
  search: string,
  body?: unknown,
): Promise<void> {
  const { API_URL, SECRET_KEY } = serviceUnderTest();
  const response = await fetch(
    `${API_URL}/rest/v1/activation_keys${search}`,
    {
      method,
      headers: {
        "apikey": SECRET_KEY,
        "Content-Type": "application/json",
      },
      body: JSON.stringify(body),
    },
  );
  const text = await response.text();
  assert(response.ok, `${method} ${search}: ${response.status} ${text}`);
}
