import { startDataApi } from "./local_data_api.ts";
import { type FunctionOptions, startFunction } from "./function_process.ts";
import { startGateway, type Targets } from "./gateway.ts";
import { LOCAL_SERVICE } from "./local_service.ts";

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address. Disposing of
 * it ends them. Throws if the migrations, the seed or the function are at fault.
 */
export async function startStack(options?: FunctionOptions, port = 0) {
  // Ends what has started if a later step fails. `move` leaves that to the caller.
  await using started = new AsyncDisposableStack();
  const dataApi = started.use(await startDataApi());
  const edgeFunction = started.use(await startFunction(dataApi.url, options));
  const targets: Targets = { dataApi, edgeFunction };
  const gateway = started.use(await startGateway(port, targets));
  return Object.assign(started.move(), {
    service: { ...LOCAL_SERVICE, API_URL: gateway.url },
    targets,
    exec: dataApi.exec,
  });
}
