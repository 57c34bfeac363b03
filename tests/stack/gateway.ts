/** Answers a request, as `fetch` handlers do. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** Path of the edge function, as on a hosted project. */
export const FUNCTION_PATH = "/functions/v1/check-username-active";

/**
 * Puts the Data API and the edge function behind one address, as the gateway of `supabase start`
 * and of a hosted project does.
 *
 * @param dataApi Answers what lies below `/rest/v1/`.
 * @param functionUrl Where the function serves.
 */
export function createGateway(dataApi: Handler, functionUrl: URL): Handler {
  return (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/rest/v1/")) {
      return dataApi(withRawFilters(request));
    }
    if (
      pathname === FUNCTION_PATH || pathname.startsWith(`${FUNCTION_PATH}/`)
    ) {
      return forward(request, functionUrl);
    }
    return Response.json(
      { message: `Nothing here but ${FUNCTION_PATH} and /rest/v1/` },
      { status: 404 },
    );
  };
}

/**
 * PostgREST takes the value of `eq.<value>` as it is. `@supabase/lite` trims it, unquotes it and
 * reads `null`, `true` and `{…}` as something else, but takes the one quoted value of an `in` list
 * exactly. So here, and only here, the one is written as the other.
 */
function withRawFilters(request: Request): Request {
  const url = new URL(request.url);
  const filters = Array.from(url.searchParams, ([name, value]) => {
    const raw = value.match(/^eq\.(.*)$/s)?.[1];
    if (raw === undefined) return [name, value];
    return [name, `in.("${raw.replaceAll(/["\\]/g, "\\$&")}")`];
  });
  url.search = new URLSearchParams(filters).toString();
  const { method, headers, body } = request;
  return new Request(url, { method, headers, body });
}

function forward(request: Request, to: URL): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const path = pathname.replace("/functions/v1", "") + search;
  return fetch(new URL(path, to), {
    method: request.method,
    headers: request.headers,
    body: request.body,
    redirect: "manual",
  });
}
