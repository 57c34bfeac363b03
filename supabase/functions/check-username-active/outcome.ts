/** What can become of a request: one name for each row of the contract's table. */
export type Outcome =
  | LookupOutcome
  | BadRequest
  | "method_not_allowed"
  | "preflight";

/** What can become of a lookup. A failure is an outcome, too: nothing throws. */
export type LookupOutcome = "active" | "not_found" | "lookup_failed";

/** What can be wrong with the body of a request. Decided without a lookup. */
export type BadRequest =
  | "missing_field"
  | "invalid_field"
  | "invalid_json"
  | "body_too_large";
