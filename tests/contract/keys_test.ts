/** Keys over their life: issued, used, moved, revoked. */
import { ACTIVE, NOT_FOUND } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import {
  dataApi,
  issueKeys,
  testWithKeys as test,
} from "../support/issue_keys.ts";

test("key: an unused one matches nobody", async () => {
  await using project = await issueKeys([null]);
  for (const name of ["null", "NULL", "undefined", "None", " "]) {
    await assertAnswer(check(project.id, name), NOT_FOUND, name);
  }
});

test("key: the first use makes it active, and revoking it ends that", async () => {
  await using project = await issueKeys([null]);
  await assertAnswer(check(project.id, "Amelia"), NOT_FOUND);

  const key = `?project_id=eq.${project.id}`;
  await dataApi("PATCH", key, { curr_user: "Amelia" });
  await assertAnswer(check(project.id, "Amelia"), ACTIVE);

  await dataApi("PATCH", key, { curr_user: "Bessie" });
  await assertAnswer(check(project.id, "Amelia"), NOT_FOUND);
  await assertAnswer(check(project.id, "Bessie"), ACTIVE);

  await dataApi("DELETE", key);
  await assertAnswer(check(project.id, "Bessie"), NOT_FOUND);
});

test("key: several keys of one user and project are a single yes", async () => {
  await using project = await issueKeys(["Amelia", "Amelia", null, "Amelia"]);
  await assertAnswer(check(project.id, "Amelia"), ACTIVE);
});

test("key: it only counts for its own project", async () => {
  await using mine = await issueKeys(["Amelia"]);
  await using other = await issueKeys(["Bessie"]);
  await assertAnswer(check(mine.id, "Amelia"), ACTIVE);
  await assertAnswer(check(other.id, "Amelia"), NOT_FOUND);
  await assertAnswer(check(mine.id, "Bessie"), NOT_FOUND);
});

test("key: a hundred questions at once each get their own answer", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `Pilot ${index}`);
  await using project = await issueKeys(names);
  await Promise.all(names.flatMap((name) => [
    assertAnswer(check(project.id, name), ACTIVE),
    assertAnswer(check(project.id, name.toLowerCase()), NOT_FOUND),
  ]));
});
