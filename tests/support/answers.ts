/** An answer of the contract, without the headers that every answer carries. */
export interface Answer {
  status: number;
  body: { success: true } | { error: string } | null;
  headers?: Record<string, string>;
}

export const ACTIVE: Answer = { status: 200, body: { success: true } };
export const NOT_FOUND: Answer = {
  status: 499,
  body: { error: "User not found for project" },
};
export const DATABASE_ERROR: Answer = {
  status: 500,
  body: { error: "Database error" },
};
export const MISSING: Answer = {
  status: 400,
  body: { error: "Missing username or project_id" },
};
export const INVALID: Answer = {
  status: 400,
  body: { error: "Invalid username or project_id" },
};
export const INVALID_JSON: Answer = {
  status: 400,
  body: { error: "Invalid JSON" },
};
export const TOO_LARGE: Answer = {
  status: 413,
  body: { error: "Request body too large" },
};
export const METHOD_NOT_ALLOWED: Answer = {
  status: 405,
  body: { error: "Method not allowed" },
  headers: { "allow": "POST, OPTIONS" },
};
export const PREFLIGHT: Answer = {
  status: 204,
  body: null,
  headers: { "access-control-max-age": "86400" },
};
