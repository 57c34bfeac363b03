/** An answer of the contract, without the headers that every answer carries. */
export interface Answer {
  status: number;
  body: { success: true } | { error: string } | null;
  headers?: Record<string, string>;
}

const failure = (status: number, error: string) => ({
  status,
  body: { error },
});

export const ACTIVE: Answer = { status: 200, body: { success: true } };
export const NOT_FOUND = failure(499, "User not found for project");
export const DATABASE_ERROR = failure(500, "Database error");
export const MISSING = failure(400, "Missing username or project_id");
export const INVALID = failure(400, "Invalid username or project_id");
export const INVALID_JSON = failure(400, "Invalid JSON");
export const TIMEOUT = failure(408, "Request timeout");
export const TOO_LARGE = failure(413, "Request body too large");
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
