/** Callers that misbehave on the wire: each gets what it is due, and the function logs nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import {
  ACTIVE,
  DATABASE_ERROR,
  METHOD_NOT_ALLOWED,
  PREFLIGHT,
  TIMEOUT,
  TOO_LARGE,
} from "../support/answers.ts";
import {
  keys,
  linesOf,
  respond,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import { assertTooLargeArrives } from "../support/large_bodies.ts";
import { LIMITS } from "../support/limits.ts";
import {
  assertAnswer,
  check,
  PANEL_PREFLIGHT,
  send,
} from "../support/requests.ts";
import {
  assertIs,
  breaksOff,
  close,
  exchange,
  post,
  raw,
  read,
  write,
} from "../support/wire.ts";

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const BODY = JSON.stringify({ username: "a", project_id: PROJECT });
const CHUNKED = post("Transfer-Encoding: chunked");

const dataApi = startDataApiStub(keys());
const edgeFunction = await startFunctionOn(dataApi);
const { url } = edgeFunction;
Deno.test.afterAll(async () => {
  await edgeFunction[Symbol.asyncDispose]();
  await dataApi[Symbol.asyncDispose]();
});

/** What a caller sends, bit by bit. */
type Talk = (connection: Deno.TcpConn) => Promise<void>;

const HANGS_UP: Record<string, Talk> = {
  "within a declared body": breaksOff,
  "within a chunk": (connection) => write(connection, CHUNKED + "ff\r\n{"),
  "within a body that is too long": (connection) =>
    write(connection, `${CHUNKED}5000\r\n${"x".repeat(0x5000)}\r\n`),
  "within the headers": (connection) =>
    write(connection, "POST / HTTP/1.1\r\nHost: loc"),
  "before the response": (connection) =>
    write(connection, post(`Content-Length: ${BODY.length}`) + BODY),
  "after five bytes in five seconds": async (connection) => {
    await write(connection, post("Content-Length: 60"));
    for (const byte of '{"use') {
      await write(connection, byte);
      await sleep(1_000);
    }
  },
};

for (const [when, talk] of Object.entries(HANGS_UP)) {
  Deno.test(`caller: one that hangs up ${when} disturbs no other`, async () => {
    const talking = Promise.all([1, 2, 3].map(() => raw(url, talk)));
    // Others are served all the while, and afterwards.
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
    await talking;
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
  });
}

/** A body of white space and then JSON, in so many pieces of one byte except for the last. */
function crumbs(pieces: number): string {
  const last = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  return CHUNKED + "1\r\n \r\n".repeat(pieces - 1) + last;
}

for (
  const [what, text, expected] of [
    ["1,000 pieces", crumbs(LIMITS.bodyPieces - 24), ACTIVE],
    ["2,048 pieces", crumbs(2 * LIMITS.bodyPieces), TOO_LARGE],
    ["16,000 pieces", crumbs(16_000), TOO_LARGE],
  ] as const
) {
  Deno.test(`caller: a body of ${what} → ${expected.status}`, async () => {
    assertIs(await exchange(url, text), expected);
  });
}

const TOO_LONG: Record<string, Talk> = {
  "declares a megabyte and sends nothing": (connection) =>
    write(connection, post("Content-Length: 1000000")),
  "never ends it": async (connection) => {
    await write(connection, CHUNKED);
    for (;;) {
      await write(connection, `4000\r\n${"x".repeat(0x4000)}\r\n`);
      await sleep(100);
    }
  },
  "sends half as much again as is discarded": (connection) => {
    const bytes = 1.5 * LIMITS.discardedBytes;
    return write(
      connection,
      post(`Content-Length: ${bytes}`) + "x".repeat(bytes),
    );
  },
  "floods it without end": async (connection) => {
    await write(connection, CHUNKED);
    for (;;) await write(connection, `4000\r\n${"x".repeat(0x4000)}\r\n`);
  },
};

for (const [how, talk] of Object.entries(TOO_LONG)) {
  Deno.test(`caller: a body that is too long, from one that ${how} → 413 after a second`, async () => {
    await raw(url, async (connection) => {
      const startedAt = performance.now();
      // Ends when the connection does.
      const talking = talk(connection).catch(() => {});
      assertIs(await read(connection), TOO_LARGE);
      const tookMs = performance.now() - startedAt;
      const isInTime = tookMs > LIMITS.discardedMs - 100 &&
        tookMs < LIMITS.bodyMs / 2;
      assert(isInTime, `took ${Math.round(tookMs)} ms`);
      // A write that failed has closed it.
      close(connection);
      await talking;
    });
  });
}

Deno.test("caller: a body that is not whole within ten seconds → 408", async () => {
  await Promise.all(
    [post("Content-Length: 60") + "{", `${CHUNKED}3c\r\n{`].map(
      async (half) => {
        const startedAt = performance.now();
        assertIs(await exchange(url, half), TIMEOUT);
        const tookMs = performance.now() - startedAt;
        const isInTime = tookMs > LIMITS.bodyMs - 500 &&
          tookMs < LIMITS.bodyMs + 9_000;
        assert(isInTime, `took ${Math.round(tookMs)} ms`);
      },
    ),
  );
});

Deno.test("caller: the 413 waits for the end of a body that is still being sent", async () => {
  await raw(url, async (connection) => {
    let ended = false;
    await write(connection, `${CHUNKED}5000\r\n${"x".repeat(0x5000)}\r\n`);
    const answered = connection.read(new Uint8Array(64)).then(() => ended);
    await sleep(100);
    ended = true;
    await write(connection, "0\r\n\r\n");
    assert(await answered, "answered while the caller was still writing");
  });
});

Deno.test("caller: the 413 reaches each of twenty that send too much at once", async () => {
  await assertTooLargeArrives(url, Deno.execPath(), "run", "--allow-net");
});

Deno.test("caller: a method in small letters is another method → 405", async () => {
  const request = "post / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  assertIs(await exchange(url, request), METHOD_NOT_ALLOWED);
});

Deno.test("caller: a preflight gets the function's own response", async () => {
  await assertAnswer(send(PANEL_PREFLIGHT, url), {
    ...PREFLIGHT,
    headers: {
      ...PREFLIGHT.headers,
      "access-control-allow-methods": "POST, OPTIONS",
      "access-control-allow-headers":
        "authorization, x-client-info, apikey, content-type, x-retry-count, traceparent, tracestate, baggage",
    },
  });
});

Deno.test("caller: none of these leaves a line in the log", async () => {
  // A failed lookup does. What was logged before comes out of the pipe before.
  dataApi.behave = respond(400, "{}");
  await assertAnswer(check(PROJECT, "a", url), DATABASE_ERROR);
  const lines = await linesOf(edgeFunction, 1);
  assertEquals(lines.map((line) => JSON.parse(line).code), ["http_400"]);
});
