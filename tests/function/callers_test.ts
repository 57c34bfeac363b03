/** Callers that misbehave on the wire: the function stays up, and logs nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ACTIVE,
  METHOD_NOT_ALLOWED,
  PREFLIGHT,
  TOO_LARGE,
} from "../support/answers.ts";
import {
  assertAnswer,
  check,
  PANEL_PREFLIGHT,
  send,
} from "../support/requests.ts";
import { write } from "../support/data_api_stub.ts";
import { assertTooLargeArrives } from "../support/large_bodies.ts";
import {
  breaksOff,
  exchange,
  post,
  raw,
  read,
  startOnStub,
} from "../support/wire.ts";

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

const edgeFunction = await startOnStub();
const { url } = edgeFunction;
Deno.test.afterAll(async () => await edgeFunction[Symbol.asyncDispose]());

type Caller = (connection: Deno.TcpConn) => Promise<void>;

const CALLERS: Record<string, Caller> = {
  "sends its body a byte a second": async (connection) => {
    await write(connection, post("Content-Length: 60"));
    for (const byte of '{"u') {
      await write(connection, byte);
      await sleep(1_000);
    }
  },
  "promises more than it sends": breaksOff,
  "never ends a chunked body": async (connection) => {
    await write(connection, post("Transfer-Encoding: chunked"));
    for (let chunk = 0; chunk < 5; chunk++) {
      await write(connection, "1\r\n[\r\n");
      await sleep(100);
    }
  },
  "breaks off within a chunk": (connection) =>
    write(connection, post("Transfer-Encoding: chunked") + "ff\r\n{"),
  "sends an invalid chunk": (connection) =>
    write(connection, post("Transfer-Encoding: chunked") + "zz\r\n{}\r\n"),
  "hangs up within a body that is too long": async (connection) => {
    await write(connection, post("Transfer-Encoding: chunked"));
    await write(connection, `5000\r\n${"x".repeat(0x5000)}\r\n`);
  },
  "declares 5 bytes and sends 20 KB in chunks": async (connection) => {
    const headers = "Content-Length: 5\r\nTransfer-Encoding: chunked";
    await write(connection, post(headers));
    await write(connection, `5000\r\n${"x".repeat(0x5000)}\r\n0\r\n\r\n`);
  },
  "hangs up within the headers": (connection) =>
    write(connection, "POST / HTTP/1.1\r\nHost: loc"),
  "hangs up before the answer": (connection) => {
    const body = JSON.stringify({ username: "a", project_id: PROJECT });
    return write(connection, post(`Content-Length: ${body.length}`) + body);
  },
  "sends 64 KB of headers": async (connection) => {
    const headers = `X: ${"x".repeat(1_000)}\r\n`.repeat(64);
    await write(connection, post(`${headers}Content-Length: 0`));
    await connection.read(new Uint8Array(1_024));
  },
  "speaks no HTTP": async (connection) => {
    await write(connection, "\x16\x03\x01hello\r\n\r\n");
    await connection.read(new Uint8Array(1_024));
  },
};

for (const [name, talk] of Object.entries(CALLERS)) {
  Deno.test(`caller: one that ${name} disturbs no other`, async () => {
    const talking = Promise.all([1, 2, 3].map(() => raw(url, talk)));
    // Others are served all the while, and afterwards.
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
    await talking;
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
    assertEquals(edgeFunction.output().trim().split("\n").length, 1);
  });
}

for (
  const [name, talk] of Object.entries({
    "declares a megabyte and sends nothing": (connection) =>
      write(connection, post("Content-Length: 1000000")),
    "never ends a body that is too long": async (connection) => {
      await write(connection, post("Transfer-Encoding: chunked"));
      for (;;) {
        await write(connection, `4000\r\n${"x".repeat(0x4000)}\r\n`);
        await sleep(100);
      }
    },
    "floods it without end": async (connection) => {
      await write(connection, post("Transfer-Encoding: chunked"));
      for (;;) {
        await write(connection, `4000\r\n${"x".repeat(0x4000)}\r\n`);
      }
    },
  } as Record<string, Caller>)
) {
  Deno.test(`caller: one that ${name} gets a 413 within two seconds`, async () => {
    await raw(url, async (connection) => {
      const startedAt = performance.now();
      // Ends when the connection does.
      const talking = talk(connection).catch(() => {});
      const text = await read(connection);
      const tookMs = performance.now() - startedAt;
      const isTooLarge = text.startsWith(`HTTP/1.1 ${TOO_LARGE.status} `);
      assert(isTooLarge, text || "no response");
      assert(tookMs < 2_000, `took ${Math.round(tookMs)} ms`);
      connection.close();
      await talking;
    });
  });
}

Deno.test("caller: the 413 waits for the end of a body that is still being sent", async () => {
  await raw(url, async (connection) => {
    let ended = false;
    await write(connection, post("Transfer-Encoding: chunked"));
    await write(connection, `5000\r\n${"x".repeat(0x5000)}\r\n`);
    const answered = connection.read(new Uint8Array(64)).then(() => ended);
    await sleep(300);
    ended = true;
    await write(connection, "0\r\n\r\n");
    assert(await answered, "answered while the caller was still writing");
  });
});

Deno.test("caller: the 413 reaches each of twenty that send too much at once", async () => {
  await assertTooLargeArrives(url, Deno.execPath(), "run", "--allow-net");
});

Deno.test("caller: a method in small letters is another method → 405", async () => {
  const text = await exchange(
    url,
    "post / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  );
  assertStringIncludes(text, `HTTP/1.1 ${METHOD_NOT_ALLOWED.status} `);
  assertStringIncludes(text, JSON.stringify(METHOD_NOT_ALLOWED.body));
});

Deno.test("caller: a preflight gets the function's own answer", async () => {
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
