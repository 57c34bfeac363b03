import { App } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { migrate, prepare, seed } from "./database.ts";
import {
  downloadPackages,
  type FunctionOptions,
  startFunction,
} from "./function_process.ts";
import { createGateway } from "./gateway.ts";
import { LOCAL_SERVICE, type Service } from "./local_service.ts";

/** A running local stack. Disposing of it ends everything that it started. */
export interface Stack extends AsyncDisposable {
  service: Service;
}

/** How to start a local stack. */
export interface StackOptions extends Omit<FunctionOptions, "env"> {
  /** TCP port of its address. Any free one, when not given. */
  port?: number;
}

/**
 * Starts PostgreSQL, the Data API and the edge function behind one loopback address, from nothing
 * and without Docker.
 *
 * @returns The stack, once a request has gone all the way through it.
 * @throws {Deno.errors.AddrInUse} When the port is taken.
 */
export async function startStack(
  { port = 0, ...functionOptions }: StackOptions = {},
): Promise<Stack> {
  const running = new AsyncDisposableStack();
  try {
    // The address first: a taken port shows at once. Requests wait until the rest is there.
    const gateway = Promise.withResolvers<ReturnType<typeof createGateway>>();
    const server = running.use(Deno.serve(
      { hostname: "127.0.0.1", port, onListen: () => {} },
      async (request) => (await gateway.promise)(request),
    ));
    const service = {
      ...LOCAL_SERVICE,
      API_URL: `http://127.0.0.1:${server.addr.port}`,
    };

    const connection = await createPgliteConnection();
    running.defer(() => connection.close());
    await prepare(connection.driver, "closed");
    await migrate(connection.driver);
    await seed(connection.driver);
    const dataApi = new App({
      connection,
      auth: {
        enabled: false,
        publishable_key: service.PUBLISHABLE_KEY,
        secret_key: service.SECRET_KEY,
      },
    });

    await downloadPackages(functionOptions);
    const edgeFunction = running.use(
      await startFunction({ ...functionOptions, env: platformEnv(service) }),
    );
    gateway.resolve(createGateway(dataApi.fetch, edgeFunction.url));

    await warmUp(service);
    return {
      service,
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

/** The variables that the platform gives every edge function. */
export function platformEnv(service: Service): Record<string, string> {
  return {
    SUPABASE_URL: service.API_URL,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({
      default: service.PUBLISHABLE_KEY,
    }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: service.SECRET_KEY }),
  };
}

// The first requests make `@supabase/lite` set up its roles; concurrent ones would fail now and then.
async function warmUp({ API_URL, SECRET_KEY }: Service): Promise<void> {
  const response = await fetch(
    `${API_URL}/rest/v1/activation_keys?select=id&limit=1`,
    { headers: { apikey: SECRET_KEY } },
  );
  if (!response.ok) {
    throw new Error(`The Data API does not answer: ${await response.text()}`);
  }
  await response.body?.cancel();
}
