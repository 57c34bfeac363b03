/** The function on the wire: connections of one's own, and the memory that its process takes. */
import { assert, assertStringIncludes } from "@std/assert";
import { run } from "../../tools/command.ts";
import type { Expected } from "./contract.ts";

/** Talks to a server over a connection of one's own, and hangs up. */
export async function raw<Result>(
  url: URL,
  talk: (connection: Deno.TcpConn) => Promise<Result>,
): Promise<Result> {
  const { hostname, port } = url;
  const connection = await Deno.connect({ hostname, port: Number(port) });
  try {
    return await talk(connection);
  } finally {
    close(connection);
  }
}

/** Sends a text over a connection of its own. Gives what comes back first. */
export function exchange(url: URL, text: string): Promise<string> {
  return raw(url, async (connection) => {
    await write(connection, text);
    return await read(connection);
  });
}

/** Head of a POST. */
export const post = (headers: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

/** Breaks off within a body. */
export const breaksOff = (connection: Deno.TcpConn) =>
  write(connection, post("Content-Length: 100") + '{"username":"a"');

/** What comes back first, within a minute. */
export async function read(connection: Deno.TcpConn): Promise<string> {
  const patience = setTimeout(() => close(connection), 60_000);
  const buffer = new Uint8Array(1_024);
  const length = await connection.read(buffer).catch(() => 0);
  clearTimeout(patience);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
}

/** Fails unless what came back first begins with this response's status and has its body. */
export function assertIs(text: string, { status, body }: Expected): void {
  assert(text.startsWith(`HTTP/1.1 ${status} `), text || "no response");
  assertStringIncludes(text, JSON.stringify(body));
}

/** Writes all of a text. */
export async function write(
  connection: Deno.TcpConn,
  text: string,
): Promise<void> {
  const writer = connection.writable.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
  } finally {
    writer.releaseLock();
  }
}

/** Closes a connection, unless that has been done. */
export function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It was closed before, by whichever side.
  }
}

/** Memory of a process, in MB. */
export async function residentMb(pid: number): Promise<number> {
  if (Deno.build.os === "linux") {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return Math.round(Number(status.match(/VmRSS:\s+(\d+)/)?.[1]) / 1024);
  }
  const { stdout } = await run("ps", ["-o", "rss=", "-p", `${pid}`]);
  return Math.round(Number(stdout) / 1024);
}
