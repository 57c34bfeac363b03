/** Who may read the table, and call its functions, through the Data API. */
import { assert } from "@std/assert";
import * as service from "../support/service_under_test.ts";

const test = service.isReadOnly ? Deno.test.ignore : Deno.test;

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const KEY = "c47483a5-3d7d-49ae-a026-b9fbe3b175b1";
const ROWS = `activation_keys?project_id=eq.${PRODUCT}`;
const ROW = { project_id: PRODUCT, order_item: "1", curr_user: "Amelia" };
const ITEM = { order_item: "1", project_id: PRODUCT };
const FIRST_USE = { key: KEY, project_id: PRODUCT, username: "Amelia" };

type Attempt = { to: string; method: string; path: string; json?: unknown };
/** What nobody may do, not even with the secret key. */
const FORBIDDEN: Attempt[] = [
  { to: "read whole rows", method: "GET", path: ROWS },
  ...["id", "order_item", "created_at", "activated_at", "revoked_at"]
    .map((column) => ({ to: `read ${column}`, method: "GET", path: `${ROWS}&select=${column}` })),
  { to: "insert a row", method: "POST", path: "activation_keys", json: ROW },
  { to: "change a row", method: "PATCH", path: ROWS, json: { curr_user: "Amelia" } },
  { to: "delete a row", method: "DELETE", path: ROWS },
];
/** What the secret key may do, and nobody else. */
const RESTRICTED: Attempt[] = [
  { to: "read products", method: "GET", path: `${ROWS}&select=project_id` },
  { to: "read users", method: "GET", path: `${ROWS}&select=curr_user` },
  { to: "issue a key", method: "POST", path: "rpc/issue_key", json: ITEM },
  { to: "activate a key", method: "POST", path: "rpc/activate_key", json: FIRST_USE },
  { to: "revoke a key", method: "POST", path: "rpc/revoke_key", json: ITEM },
];

const { PUBLISHABLE_KEY, SECRET_KEY } = service.settings;
const CALLERS = [
  { who: "the secret key", apikey: SECRET_KEY, attempts: FORBIDDEN },
  { who: "no API key", apikey: "", attempts: [...FORBIDDEN, ...RESTRICTED] },
  { who: "the publishable key", apikey: PUBLISHABLE_KEY, attempts: [...FORBIDDEN, ...RESTRICTED] },
];

for (const { who, apikey, attempts } of CALLERS) {
  // For a hosted project, the publishable key may not be given.
  if (who === "the publishable key" && !PUBLISHABLE_KEY) continue;
  for (const { to, method, path, json } of attempts) {
    test(`rights: ${who} does not allow a caller to ${to}`, async () => {
      const { status, text } = await service.callDataApi(method, path, json, apikey);
      assert(status === 401 || status === 403, `${status} ${text}`); // Some services send 401.
    });
  }
}
