/** The contract, as the tests expect it: its responses and its limits. */

/** A response of the contract. `headers` are those that only some responses have. */
export interface Expected {
  status: number;
  body: { success: true } | { error: string } | null;
  headers?: Record<string, string | RegExp>;
}

const error = (status: number, message: string) => ({
  status,
  body: { error: message },
});

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
    // supabase-js adds to the list from time to time.
    "access-control-allow-headers":
      /^(?=.*\bapikey\b)(?=.*\bauthorization\b)(?=.*\bcontent-type\b)(?=.*\bx-client-info\b)/,
    "access-control-max-age": "86400",
  },
};

export const RESPONSES: Expected[] = [
  ACTIVE,
  NOT_FOUND,
  DATABASE_ERROR,
  MISSING,
  INVALID,
  INVALID_JSON,
  TIMEOUT,
  TOO_LARGE,
  METHOD_NOT_ALLOWED,
  PREFLIGHT,
];

/** The limits of bodies, names and lookups. */
export const LIMITS = {
  bodyBytes: 16 * 1024,
  bodyMs: 10_000, // Until a body is whole.
  name: 256, // In code points.
  lookupMs: 5_000,
  attempts: 6, // Of a lookup.
} as const;

/** The lookup, as the Data API is asked, and as PostgreSQL then runs it. */
export const LOOKUP = {
  path: (project_id: string, curr_user: string) =>
    `/rest/v1/activation_keys?${new URLSearchParams({
      select: "project_id,curr_user",
      project_id: `eq.${project_id}`,
      curr_user: `eq.${curr_user}`,
      limit: "1",
    })}`,
  sql: (project_id: string, curr_user: string) =>
    `select project_id, curr_user from public.activation_keys
    where project_id = '${project_id}' and curr_user = '${curr_user}' limit 1`,
};
