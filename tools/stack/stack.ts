import { startDataApi } from "./local_data_api.ts";
import { type FunctionOptions, startFunction } from "./function_process.ts";
import { startGateway, type Targets } from "./gateway.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address. Disposing of
 * it ends them. Throws if the migrations, the seed or the function are at fault.
 */
export async function startStack(options?: FunctionOptions, port = 0) {
  await using unfinished = new AsyncDisposableStack();
  const dataApi = unfinished.use(await startDataApi());
  const edgeFunction = unfinished.use(
    await startFunction(dataApi.url, options),
  );
  const targets: Targets = { dataApi, edgeFunction };
  const gateway = unfinished.use(await startGateway(port, targets));
  return Object.assign(unfinished.move(), {
    service: { ...LOCAL_SERVICE, API_URL: gateway.url },
    targets,
    exec: dataApi.exec,
  });
}
