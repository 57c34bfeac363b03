/** Memory: what requests leave behind. */
import { assert } from "@std/assert";
import {
  ACTIVE,
  INVALID,
  INVALID_JSON,
  LIMITS,
  METHOD_NOT_ALLOWED,
  MISSING,
  NOT_FOUND,
  TOO_LARGE,
} from "../support/contract.ts";
import { assertResponse, check, send } from "../support/requests.ts";
import {
  keys,
  rows,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { testWith } from "../support/left_out.ts";
import { breaksOff, raw, residentMb } from "../support/wire.ts";

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

// A heap of 24 MB ends the process when each request leaves a kilobyte, and keeps the rest of the
// memory within a megabyte from run to run. 50,000 requests take two minutes.
const REQUESTS = Number(Deno.env.get("LOAD_REQUESTS") ?? 6_000);
const MEMORY_GROWTH_MB = 8;

testWith("/proc or ps")(
  `load: ${REQUESTS} mixed requests leave no memory behind`,
  async () => {
    await using dataApi = await startDataApiStub(keys());
    await using edgeFunction = await startFunctionOn(dataApi, { heapMb: 24 });
    const { url, pid } = edgeFunction;
    const tooLarge = { body: "x".repeat(2 * LIMITS.bodyBytes) };
    const mixed = [
      () => assertResponse(check(PRODUCT, "a", url), ACTIVE),
      () =>
        assertResponse(check(PRODUCT, "🛩".repeat(LIMITS.name), url), ACTIVE),
      () => assertResponse(check("no UUID", "a", url), INVALID),
      () => assertResponse(send({}, url), MISSING),
      () =>
        assertResponse(send({ body: "[".repeat(10_000) }, url), INVALID_JSON),
      () => assertResponse(send(tooLarge, url), TOO_LARGE),
      () => assertResponse(send({ method: "GET" }, url), METHOD_NOT_ALLOWED),
      () => raw(url, breaksOff),
    ];
    const run = async (count: number) => {
      let sent = 0;
      await Promise.all(Array.from({ length: 16 }, async () => {
        while (sent < count) await mixed[sent++ % mixed.length]?.();
      }));
      dataApi.requests.length = 0;
    };

    // The heap finds its size during the first.
    await run(REQUESTS);
    const beforeMb = await residentMb(pid);
    await run(REQUESTS);
    const afterMb = await residentMb(pid);
    console.log(`resident memory: ${beforeMb} MB, then ${afterMb} MB`);
    assert(
      afterMb - beforeMb < MEMORY_GROWTH_MB,
      `${beforeMb} → ${afterMb} MB`,
    );

    dataApi.behave = rows();
    await assertResponse(check(PRODUCT, "a", url), NOT_FOUND);
  },
);
