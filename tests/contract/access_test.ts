/** Who may reach the table through the Data API. */
import { assert } from "@std/assert";
import { NOT_FOUND } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { issueKeys, testWithKeys as test } from "../support/issue_keys.ts";
import { serviceUnderTest } from "../support/service_under_test.ts";

test("access: no key can be read or made without the secret key", async () => {
  await using project = await issueKeys(["Amelia"]);
  const table = `${serviceUnderTest().API_URL}/rest/v1/activation_keys`;
  for (const apikey of ["", serviceUnderTest().PUBLISHABLE_KEY]) {
    const headers = { apikey, "Content-Type": "application/json" };
    const read = await fetch(`${table}?project_id=eq.${project.id}`, {
      headers,
    });
    // Refused, where privileges are the platform's; the local Data API grants them, and row level
    // security leaves nothing to see.
    const seen = await read.text();
    assert(!read.ok || seen === "[]", `${read.status} ${seen}`);

    const made = await fetch(table, {
      method: "POST",
      headers,
      body: JSON.stringify({ project_id: project.id, curr_user: "Bessie" }),
    });
    const answer = await made.text();
    assert([401, 403].includes(made.status), `${made.status} ${answer}`);
  }
  await assertAnswer(check(project.id, "Bessie"), NOT_FOUND);
});
