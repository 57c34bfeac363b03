import { startDataApi } from "./local_data_api.ts";
import { type FunctionOptions, startFunction } from "./function_process.ts";
import { startGateway } from "./gateway.ts";
import { LOCAL_SERVICE, platformEnv } from "./local_service.ts";

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address, until it is
 * disposed of. Throws a `StartError` if the migrations, the seed or the function are at fault.
 */
export async function startStack(
  { port = 0, ...functionOptions }: Omit<FunctionOptions, "env"> & {
    port?: number;
  } = {},
) {
  await using unfinished = new AsyncDisposableStack();
  const targets: Parameters<typeof startGateway>[1] = {};
  // The gateway first: a taken port shows at once.
  const gateway = unfinished.use(await startGateway(port, targets));
  const service = { ...LOCAL_SERVICE, API_URL: gateway.url };
  targets.dataApi = unfinished.use(await startDataApi());
  const env = platformEnv(service);
  const { url } = targets.edgeFunction = unfinished.use(
    await startFunction({ ...functionOptions, env }),
  );

  return Object.assign(unfinished.move(), {
    service,
    functionUrl: url,
    targets,
  });
}
