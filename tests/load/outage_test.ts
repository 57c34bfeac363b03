/** A Data API that is silent for a hundred callers at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import { ACTIVE, DATABASE_ERROR, INVALID_JSON } from "../support/answers.ts";
import {
  hang,
  keys,
  linesOf,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { LIMITS } from "../support/limits.ts";
import { assertAnswer, check, send } from "../support/requests.ts";

const CALLERS = 100;

Deno.test("load: a hundred callers of a silent Data API each get their 500, and bad input its 400 at once", async () => {
  await using dataApi = startDataApiStub(hang);
  await using edgeFunction = await startFunctionOn(dataApi);
  const { url } = edgeFunction;
  const startedAt = performance.now();
  const responses = Array.from(
    { length: CALLERS },
    () => assertAnswer(check(crypto.randomUUID(), "a", url), DATABASE_ERROR),
  );
  await sleep(500);
  await assertAnswer(send({ body: "{" }, url), INVALID_JSON);
  const badInputMs = performance.now() - startedAt;
  await Promise.all(responses);
  assert(badInputMs < LIMITS.budgetMs, `${Math.round(badInputMs)} ms`);
  // Each asks a second time and, in case it is back by then, at the end.
  assertEquals(dataApi.requests.length, 3 * CALLERS);

  const lines = await linesOf(edgeFunction, CALLERS);
  const codes = lines.map((line) => JSON.parse(line).code);
  assertEquals(codes, Array(CALLERS).fill("timeout"));
  dataApi.behave = keys();
  await assertAnswer(check(crypto.randomUUID(), "a", url), ACTIVE);
});
