// Asks once, with fetch, in browsers, Node and Deno. (For MSFS, copy panel.js.)
const SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

// Resolves to the status of the response, or to 0 if there is none.
async function ask(username) {
  const body = JSON.stringify({ username, project_id: PROJECT_ID });
  const signal = AbortSignal.timeout(10000);
  // A redirect is not followed, because the 200 of another page is no yes. No header is set,
  // because with one, a browser would send a preflight first.
  const response = await fetch(SERVICE, { method: "POST", body, signal, redirect: "manual" })
    .catch(console.error);
  return response?.status ?? 0;
}
