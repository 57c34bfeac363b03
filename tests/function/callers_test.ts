/** Callers that misbehave on the wire: each gets what it is due, and the function logs nothing. */
import { assertEquals } from "@std/assert";
import {
  ACTIVE,
  DATABASE_ERROR,
  LIMITS,
  METHOD_NOT_ALLOWED,
  PREFLIGHT,
  TIMEOUT,
  TOO_LARGE,
} from "../support/contract.ts";
import {
  keys,
  linesOf,
  respond,
  startDataApiStub,
  startFunctionOn,
} from "../support/data_api_stub.ts";
import {
  assertResponse,
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

const PRODUCT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";
const BODY = JSON.stringify({ username: "a", project_id: PRODUCT });
const CHUNKED = post("Transfer-Encoding: chunked");

const dataApi = await startDataApiStub(keys());
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
  "before the response": (connection) =>
    write(connection, post(`Content-Length: ${BODY.length}`) + BODY),
};

for (const [when, talk] of Object.entries(HANGS_UP)) {
  Deno.test(`caller: one that hangs up ${when} disturbs no other`, async () => {
    const talking = Promise.all([1, 2, 3].map(() => raw(url, talk)));
    // Others are served all the while, and afterwards.
    await assertResponse(check(PRODUCT, "a", url), ACTIVE);
    await talking;
    await assertResponse(check(PRODUCT, "a", url), ACTIVE);
  });
}

for (
  const [pieces, expected] of [
    [LIMITS.bodyPieces - 24, ACTIVE],
    [2 * LIMITS.bodyPieces, TOO_LARGE],
  ] as const
) {
  Deno.test(`caller: a body in ${pieces} chunks → ${expected.status}`, async () => {
    // White space, byte by byte, and then JSON.
    const last = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
    const text = CHUNKED + "1\r\n \r\n".repeat(pieces - 1) + last;
    assertIs(await exchange(url, text), expected);
  });
}

const TOO_LONG: Record<string, Talk> = {
  "declares a megabyte and sends nothing": (connection) =>
    write(connection, post("Content-Length: 1000000")),
  "floods it without end": async (connection) => {
    await write(connection, CHUNKED);
    for (;;) await write(connection, `4000\r\n${"x".repeat(0x4000)}\r\n`);
  },
};

for (const [how, talk] of Object.entries(TOO_LONG)) {
  Deno.test(`caller: a body that is too long, from one that ${how} → 413`, async () => {
    await raw(url, async (connection) => {
      // Ends when the connection does.
      const talking = talk(connection).catch(() => {});
      assertIs(await read(connection), TOO_LARGE);
      // A write that failed has closed it.
      close(connection);
      await talking;
    });
  });
}

// When exactly, `body_test.ts` tells.
Deno.test("caller: a body that does not become whole → 408", async () => {
  const halves = [post("Content-Length: 60") + "{", `${CHUNKED}3c\r\n{`];
  await Promise.all(halves.map(async (half) => {
    assertIs(await exchange(url, half), TIMEOUT);
  }));
});

Deno.test("caller: a method in small letters is another method → 405", async () => {
  const request = "post / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  assertIs(await exchange(url, request), METHOD_NOT_ALLOWED);
});

Deno.test("caller: a preflight gets the function's own response", async () => {
  await assertResponse(send(PANEL_PREFLIGHT, url), {
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
  await assertResponse(check(PRODUCT, "a", url), DATABASE_ERROR);
  const lines = await linesOf(edgeFunction, 1);
  assertEquals(lines.map((line) => JSON.parse(line).code), ["http_400"]);
});
