/** The contract, as the tests expect it: its responses and its limits. */

/** A response of the contract. `headers` are those that only some responses have. */
export interface Expected {
  status: number;
  body: { success: true } | { error: string } | null;
  headers?: Record<string, string | RegExp>;
}

const error = (status: number, message: string) => ({ status, body: { error: message } });

export const ACTIVE: Expected = { status: 200, body: { success: true } };
export const NOT_FOUND = error(499, "User not found for project");
export const DATABASE_ERROR = error(500, "Database error");
export const MISSING = error(400, "Missing username or project_id");
export const INVALID = error(400, "Invalid username or project_id");
export const INVALID_JSON = error(400, "Invalid JSON");
export const TIMEOUT = error(408, "Request timeout");
export const TOO_LARGE = error(413, "Request body too large");
export const METHOD_NOT_ALLOWED = {
  ...error(405, "Method not allowed"),
  headers: { "allow": "POST, OPTIONS" },
};
export const PREFLIGHT: Expected = {
  status: 204,
  body: null,
  headers: {
    "access-control-allow-methods": "POST, OPTIONS",
    // supabase-js adds to its list from time to time. The `*` at the end allows all other headers.
    "access-control-allow-headers":
      /^(?=.*\bapikey\b)(?=.*\bauthorization\b)(?=.*\bcontent-type\b)(?=.*\bx-client-info\b).*, \*$/,
    "access-control-max-age": "86400",
  },
};

/** The limits of bodies, names and lookups. */
export const LIMITS = {
  bodyBytes: 16 * 1024,
  bodyMs: 10_000, // Until a body is whole.
  name: 256, // In code points.
  lookupMs: 5_000, // With all attempts.
};

/** The lookup of one user's key: how the Data API is asked, and the same question in SQL. */
export const LOOKUP = {
  project_id: "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59",
  curr_user: "Zoë & Co.",
  path: "/rest/v1/activation_keys?select=project_id%2Ccurr_user" +
    "&project_id=eq.0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59&curr_user=eq.Zo%C3%AB+%26+Co.&limit=1",
  sql: `select project_id, curr_user from public.activation_keys
    where project_id = '0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59' and curr_user = 'Zoë & Co.' limit 1`,
};
