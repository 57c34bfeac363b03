/** The function on the wire: connections of one's own, and what its process takes. */
import { run } from "../../tools/command.ts";
import type { FunctionProcess } from "../../tools/stack/function_process.ts";
import {
  close,
  type DataApiStub,
  keys,
  startDataApiStub,
  startFunctionOn,
  write,
} from "./data_api_stub.ts";

/** Starts the function on a Data API that has a key for everyone. Disposing of it ends both. */
export async function startOnStub(
  options: { heapMb?: number } = {},
): Promise<FunctionProcess & { dataApi: DataApiStub }> {
  const running = new AsyncDisposableStack();
  const dataApi = running.use(startDataApiStub(keys()));
  const edgeFunction = running.use(
    await startFunctionOn(dataApi, undefined, options),
  );
  return {
    ...edgeFunction,
    dataApi,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

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

/** What comes back first, within twenty seconds. */
export async function read(connection: Deno.TcpConn): Promise<string> {
  const patience = setTimeout(() => close(connection), 20_000);
  const buffer = new Uint8Array(1_024);
  const length = await connection.read(buffer).catch(() => 0);
  clearTimeout(patience);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
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
