/** The function on the wire: connections of one's own, and the memory that its process takes. */
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { assert, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import type { Expected } from "./contract.ts";

/** Talks to a server over a connection of one's own, and hangs up. */
export async function raw<Result>(
  { hostname, port }: URL,
  talk: (connection: Socket) => Promise<Result>,
): Promise<Result> {
  const connection = connect(Number(port), hostname).setEncoding("utf8");
  // Whoever writes or reads learns of it as well.
  connection.on("error", () => {});
  try {
    return await talk(connection);
  } finally {
    connection.destroy();
  }
}

/** Sends a text over a connection of its own. Gives what comes back first. */
export const exchange = (url: URL, text: string) => firstOf(url, [text]);

/** Sends a text over a connection of its own, and hangs up. */
export const hangUp = (url: URL, text: string) =>
  raw(url, (connection) => write(connection, text));

/** Head of a POST. */
export const post = (headers: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

/** Sends the same chunk of a body over and over. Gives what comes back first. */
export function flood(url: URL, chunk: string): Promise<string> {
  const endless = function* () {
    yield post("Transfer-Encoding: chunked");
    for (;;) yield chunk;
  };
  return firstOf(url, endless());
}

/** Sends texts, and gives what comes back first, within a minute. Then the connection is closed. */
function firstOf(url: URL, texts: Iterable<string>): Promise<string> {
  return raw(url, async (connection) => {
    Readable.from(texts).pipe(connection, { end: false });
    const signal = AbortSignal.timeout(60_000);
    const [text] = await connection.take(1).toArray({ signal });
    return text ?? "";
  });
}

/** Fails unless what came back first begins with this response's status and has its body. */
export function assertIs(text: string, { status, body }: Expected): void {
  assert(text.startsWith(`HTTP/1.1 ${status} `), text || "no response");
  assertStringIncludes(text, JSON.stringify(body));
}

/** Writes all of a text. */
export const write = (connection: Socket, text: string) =>
  new Promise<void>((resolve, reject) =>
    connection.write(text, (error) => error ? reject(error) : resolve())
  );

/** Memory of a process, in MB. */
export async function residentMb(pid: number): Promise<number> {
  if (Deno.build.os === "linux") {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return Math.round(Number(status.match(/VmRSS:\s+(\d+)/)?.[1]) / 1024);
  }
  const { stdout } = await run("ps", ["-o", "rss=", "-p", `${pid}`]);
  return Math.round(Number(stdout) / 1024);
}
