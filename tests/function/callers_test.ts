/** Callers that misbehave on the wire: the function stays up, logs nothing, and leaks no memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/run.ts";
import {
  ACTIVE,
  INVALID,
  INVALID_JSON,
  METHOD_NOT_ALLOWED,
  MISSING,
  NOT_FOUND,
  PREFLIGHT,
  TOO_LARGE,
} from "../support/answers.ts";
import { assertAnswer } from "../support/assert_answer.ts";
import { check, PANEL_PREFLIGHT, send } from "../support/send.ts";
import { isLeftOut } from "../support/left_out.ts";
import { assertTooLargeArrives } from "../support/large_bodies.ts";
import type { FunctionProcess } from "../../tools/stack/function_process.ts";
import {
  close,
  keys,
  rows,
  startDataApiStub,
  startFunctionOn,
  write,
} from "../support/data_api_stub.ts";

const CRUMB_SENDERS = fileURLToPath(
  new URL("../support/crumb_senders.ts", import.meta.url),
);

/** Memory that the platform gives the function, in MB. */
const PLATFORM_MB = 256;
const knowsMemory = !isLeftOut("the memory that callers take", "/proc or ps");

const PROJECT = "0d5c8f3e-27b1-4c6a-9e84-b1f6720a3d59";

async function start(options: { heapMb?: number } = {}) {
  const running = new AsyncDisposableStack();
  const dataApi = running.use(startDataApiStub(keys()));
  const edgeFunction = running.use(
    await startFunctionOn(dataApi, undefined, options),
  );
  return {
    dataApi,
    edgeFunction,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Talks to the function over a connection of its own, and hangs up. */
async function raw(
  { url }: FunctionProcess,
  talk: (connection: Deno.TcpConn) => Promise<void>,
): Promise<void> {
  const connection = await Deno.connect({
    hostname: url.hostname,
    port: Number(url.port),
  });
  try {
    await talk(connection);
  } finally {
    close(connection);
  }
}

const post = (headers: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

type Caller = (connection: Deno.TcpConn) => Promise<void>;

const breaksOff: Caller = (connection) =>
  write(connection, post("Content-Length: 100") + '{"username":"a"');

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
    await using stack = await start();
    const { edgeFunction } = stack;
    const talking = Promise.all([1, 2, 3].map(() => raw(edgeFunction, talk)));
    // Others are served all the while, and afterwards.
    await assertAnswer(check(PROJECT, "a", edgeFunction.url), ACTIVE);
    await talking;
    await assertAnswer(check(PROJECT, "a", edgeFunction.url), ACTIVE);
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
    await using stack = await start();
    await raw(stack.edgeFunction, async (connection) => {
      const startedAt = performance.now();
      // Ends when the connection does.
      const talking = talk(connection).catch(() => {});
      const line = new Uint8Array(64);
      const patience = setTimeout(() => connection.close(), 5_000);
      const length = await connection.read(line).catch(() => null);
      clearTimeout(patience);
      const tookMs = performance.now() - startedAt;
      const text = new TextDecoder().decode(line.subarray(0, length ?? 0));
      assert(text.startsWith("HTTP/1.1 413 "), text || "no answer");
      assert(tookMs < 2_000, `took ${Math.round(tookMs)} ms`);
      connection.close();
      await talking;
    });
  });
}

Deno.test("caller: the 413 waits for the end of a body that is still being sent", async () => {
  await using stack = await start();
  await raw(stack.edgeFunction, async (connection) => {
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
  await using stack = await start();
  await assertTooLargeArrives(stack.edgeFunction.url, [
    Deno.execPath(),
    "run",
    "--allow-net",
  ]);
});

/** What comes back first, within twenty seconds. */
async function read(connection: Deno.TcpConn): Promise<string> {
  const patience = setTimeout(() => close(connection), 20_000);
  const buffer = new Uint8Array(1_024);
  const length = await connection.read(buffer).catch(() => 0);
  clearTimeout(patience);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
}

Deno.test("caller: a method in small letters is another method → 405", async () => {
  await using stack = await start();
  await raw(stack.edgeFunction, async (connection) => {
    await write(connection, "post / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const text = await read(connection);
    assertStringIncludes(text, `HTTP/1.1 ${METHOD_NOT_ALLOWED.status} `);
    assertStringIncludes(text, JSON.stringify(METHOD_NOT_ALLOWED.body));
  });
});

/** A body of white space and then JSON, in so many pieces of one byte but for the last. */
function crumbs(pieces: number): string {
  const json = JSON.stringify({ username: "a", project_id: PROJECT });
  const last = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;
  return "1\r\n \r\n".repeat(pieces - 1) + last;
}

for (
  const [pieces, expected] of [
    [1_000, ACTIVE],
    [2_000, TOO_LARGE],
    [16_000, TOO_LARGE],
  ] as const
) {
  Deno.test(`caller: a valid body in ${pieces} pieces → ${expected.status}`, async () => {
    await using stack = await start();
    await raw(stack.edgeFunction, async (connection) => {
      await write(
        connection,
        post("Transfer-Encoding: chunked") + crumbs(pieces),
      );
      const text = await read(connection);
      assertStringIncludes(text, `HTTP/1.1 ${expected.status} `);
      assertStringIncludes(text, JSON.stringify(expected.body));
    });
  });
}

const CRUMBS =
  "caller: fourteen that send crumbs without end keep nobody else waiting";
Deno.test(CRUMBS, { ignore: isLeftOut(CRUMBS, "fair sockets") }, async () => {
  await using stack = await start();
  const { url, pid } = stack.edgeFunction;
  const senders = run(Deno.execPath(), [
    "run",
    "--no-config",
    "--allow-net",
    CRUMB_SENDERS,
    url.href,
    "14",
    "5",
  ]);
  // Wide, for slow machines: without limits, they waited for up to 20 s.
  const patienceMs = 2_500;
  await sleep(500);
  let peakMb = 0;
  for (let bystander = 0; bystander < 20; bystander++) {
    const askedAt = performance.now();
    await assertAnswer(check(PROJECT, "a", url), ACTIVE);
    const tookMs = performance.now() - askedAt;
    assert(tookMs < patienceMs, `waited for ${Math.round(tookMs)} ms`);
    if (knowsMemory) peakMb = Math.max(peakMb, await residentMb(pid));
    await sleep(200);
  }
  const { stdout, stderr } = await senders;
  const statuses: string[] = JSON.parse(stdout || stderr);
  assert(statuses.length >= 14, stdout);
  assertEquals(statuses.filter((status) => status !== "413"), []);
  assert(peakMb < PLATFORM_MB, `${peakMb} MB`);
});

Deno.test("caller: hundreds of half-sent bodies are each a 400 after ten seconds", async () => {
  await using stack = await start();
  const { edgeFunction } = stack;
  const half = async (headers: string, sent: string) => {
    let text = "";
    const startedAt = performance.now();
    await raw(edgeFunction, async (connection) => {
      await write(connection, post(headers) + sent);
      text = await read(connection);
    });
    const tookMs = performance.now() - startedAt;
    assert(text.startsWith(`HTTP/1.1 ${INVALID_JSON.status} `), text);
    assertStringIncludes(text, JSON.stringify(INVALID_JSON.body));
    assert(tookMs > 9_000 && tookMs < 19_000, `${Math.round(tookMs)} ms`);
  };
  const spaces = " ".repeat(8_000);
  const waiting = Promise.all(
    Array.from({ length: 200 }, () => [
      half("Content-Length: 16000", spaces),
      half("Transfer-Encoding: chunked", `3e80\r\n${spaces}`),
    ]).flat(),
  );
  // What fails meanwhile is reported by the `await` below.
  waiting.catch(() => {});
  await sleep(1_000);
  await assertAnswer(check(PROJECT, "a", edgeFunction.url), ACTIVE);
  await waiting;
  const mb = knowsMemory ? await residentMb(edgeFunction.pid) : 0;
  assert(mb < PLATFORM_MB, `${mb} MB`);
});

Deno.test("caller: a preflight gets the function's own answer", async () => {
  await using stack = await start();
  await assertAnswer(send(PANEL_PREFLIGHT, stack.edgeFunction.url), {
    ...PREFLIGHT,
    headers: {
      ...PREFLIGHT.headers,
      "access-control-allow-methods": "POST, OPTIONS",
      "access-control-allow-headers":
        "authorization, x-client-info, apikey, content-type, x-retry-count, traceparent, tracestate, baggage",
    },
  });
});

// A heap of 24 MB ends the process when each request leaves a kilobyte, and keeps the rest of the
// memory within a megabyte from run to run. 50,000 requests take two minutes.
const REQUESTS = Number(Deno.env.get("LOAD_REQUESTS") ?? 6_000);
const MEMORY_GROWTH_MB = 8;

const MIXED = `caller: ${REQUESTS} mixed requests leave no memory behind`;
Deno.test(MIXED, { ignore: isLeftOut(MIXED, "/proc or ps") }, async () => {
  await using stack = await start({ heapMb: 24 });
  const { dataApi, edgeFunction } = stack;
  const { url } = edgeFunction;
  const mixed = [
    () => assertAnswer(check(PROJECT, "a", url), ACTIVE),
    () => assertAnswer(check(PROJECT, "🛩".repeat(256), url), ACTIVE),
    () => assertAnswer(check("no UUID", "a", url), INVALID),
    () => assertAnswer(send({}, url), MISSING),
    () => assertAnswer(send({ body: "[".repeat(10_000) }, url), INVALID_JSON),
    () => assertAnswer(send({ body: "x".repeat(20_000) }, url), TOO_LARGE),
    () => assertAnswer(send({ method: "GET" }, url), METHOD_NOT_ALLOWED),
    () => raw(edgeFunction, breaksOff),
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
  const beforeMb = await residentMb(edgeFunction.pid);
  await run(REQUESTS);
  const afterMb = await residentMb(edgeFunction.pid);
  console.log(`resident memory: ${beforeMb} MB, then ${afterMb} MB`);
  assert(afterMb - beforeMb < MEMORY_GROWTH_MB, `${beforeMb} → ${afterMb} MB`);

  dataApi.behave = rows();
  await assertAnswer(check(PROJECT, "a", url), NOT_FOUND);
});

/** Memory of a process, in MB. */
async function residentMb(pid: number): Promise<number> {
  if (Deno.build.os === "linux") {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return Math.round(Number(status.match(/VmRSS:\s+(\d+)/)?.[1]) / 1024);
  }
  const { stdout } = await run("ps", ["-o", "rss=", "-p", `${pid}`]);
  return Math.round(Number(stdout) / 1024);
}
