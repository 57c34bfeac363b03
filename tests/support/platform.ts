// The hosted platform passes these on to a function. It answers any other with a 405 of its own.
const PASSED_ON = ["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Whether the service under test answers requests of a method before they reach the function, so
 * that its answer says nothing about the function. Only a hosted project does that.
 *
 * @param method The HTTP method. POST, when not given.
 */
export function isAnsweredByPlatform(method = "POST"): boolean {
  return Deno.env.get("TEST_TARGET") === "remote" &&
    !PASSED_ON.includes(method);
}
