import { startDataApi } from "./local_data_api.ts";
import {
  downloadAndStartFunction,
  type FunctionOptions,
} from "./function_process.ts";
import { startGateway, type Targets } from "./gateway.ts";
import { LOCAL_SERVICE, platformEnv, type Service } from "./local_service.ts";

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address, until it is
 * disposed of. Throws a `StartError` if the migrations, the seed or the function are at fault.
 */
export async function startStack(
  { port = 0, ...functionOptions }: Omit<FunctionOptions, "env"> & {
    port?: number;
  } = {},
): Promise<AsyncDisposable & { service: Service }> {
  await using unfinished = new AsyncDisposableStack();
  const targets: Targets = {};
  // The gateway first: a taken port shows at once.
  const gateway = unfinished.use(await startGateway(port, targets));
  const service = { ...LOCAL_SERVICE, API_URL: gateway.url };
  targets.dataApi = unfinished.use(await startDataApi(service));
  const env = platformEnv(service);
  targets.edgeFunction = unfinished.use(
    await downloadAndStartFunction({ ...functionOptions, env }),
  );

  const running = unfinished.move();
  return { service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
