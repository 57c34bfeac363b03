import { startDataApi } from "./local_data_api.ts";
import {
  downloadAndStartFunction,
  type FunctionOptions,
} from "./function_process.ts";
import { startReloadingFunction } from "./function_reload.ts";
import { startGateway, type Targets } from "./gateway.ts";
import { LOCAL_SERVICE, platformEnv, type Service } from "./local_service.ts";

/** A running local stack. Disposing of it ends everything that it started. */
export interface Stack extends AsyncDisposable {
  service: Service;
}

/** How to start a local stack. */
export interface StackOptions extends Omit<FunctionOptions, "env"> {
  /** TCP port of its address. Any free one, when not given. */
  port?: number;
  /** Serves edits of the function as they are saved, and gets a line about each. */
  onReload?: (message: string) => void;
}

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address, from nothing
 * and without Docker.
 *
 * @returns The stack, once everything in it answers.
 * @throws {StartError} When the migrations, the seed or the function are at fault.
 * @throws {Error} With the operating system's `code`, when the port cannot be taken.
 */
export async function startStack(
  { port = 0, onReload, ...functionOptions }: StackOptions = {},
): Promise<Stack> {
  await using unfinished = new AsyncDisposableStack();
  const targets: Targets = {};
  // The gateway first: a taken port shows at once.
  const gateway = unfinished.use(await startGateway(port, targets));
  const service = { ...LOCAL_SERVICE, API_URL: gateway.url.origin };
  targets.dataApi = unfinished.use(await startDataApi(service));

  const options = { ...functionOptions, env: platformEnv(service) };
  targets.edgeFunction = unfinished.use(
    onReload
      ? await startReloadingFunction(options, onReload)
      : await downloadAndStartFunction(options),
  );

  const running = unfinished.move();
  return { service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
