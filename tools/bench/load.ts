import { startFunction } from "../stack/function_process.ts";
import { npx } from "../run.ts";
import { LOCAL_SERVICE, platformEnv } from "../stack/local_service.ts";
import { VERSIONS } from "../versions.ts";
import type { Subjects } from "./subjects.ts";

/** How many connections ask at a time. */
export const CONNECTIONS = 16;

const BODY = JSON.stringify({
  username: "Zoë Brückner#4821",
  project_id: "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4",
});

/** A Data API that answers at once. Disposing of it ends it. */
export interface Stub extends AsyncDisposable {
  /** The environment of a function that asks it. */
  env: Record<string, string>;
}

/** Starts the stub that stands in for the Data API. */
export async function startStub({ stub, deno }: Subjects): Promise<Stub> {
  const running = await startFunction({ env: {}, folder: stub.folder, deno });
  return {
    env: platformEnv({ ...LOCAL_SERVICE, API_URL: running.url.origin }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** Requests per second, and latency in milliseconds. */
export interface Load {
  rate: number;
  p50: number;
  p99: number;
}

/**
 * Sends the same well-formed request over and over.
 *
 * @param url The function's address.
 * @param extent How many requests, or for how many seconds.
 * @throws {Error} When an answer is not a 200.
 */
export async function load(
  url: URL,
  extent: { amount: number } | { duration: number },
): Promise<Load> {
  const [flag, value] = "amount" in extent
    ? ["--amount", extent.amount]
    : ["--duration", extent.duration];
  // Not in `deno.lock`: `deno task` would download it and its 60 packages for everybody.
  const { success, stdout, stderr } = await npx(
    `autocannon@${VERSIONS.autocannon}`,
    [
      "--json",
      "--method=POST",
      `--body=${BODY}`,
      `--connections=${CONNECTIONS}`,
      `${flag}=${value}`,
      url.href,
    ],
  );
  if (!success) throw new Error(stderr);
  const result = JSON.parse(stdout);
  if (result.errors > 0 || result.non2xx > 0) {
    throw new Error(`${result.errors} errors, ${result.non2xx} other statuses`);
  }
  return {
    rate: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}
