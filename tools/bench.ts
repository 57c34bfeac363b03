/** `deno task bench`: compares the function with bare supabase-js. */
import { Buffer } from "node:buffer";
import { brotliCompressSync } from "node:zlib";
import { edgeDeno } from "./command.ts";
import { startFunction } from "./function_process.ts";
import { serveOnLoopback } from "./loopback.ts";
import { FUNCTION_FOLDER, SEEDED } from "./project.ts";
import { makeTempFolder } from "./temp_folder.ts";

const [ROUNDS, CALLERS, REQUESTS] = [9, 16, 20_000];

/** One client, no limits, no validation, no time-out, no CORS. */
const BARE = `import { createClient } from "@supabase/supabase-js";
  const { SUPABASE_URL, SUPABASE_SECRET_KEYS } = Deno.env.toObject();
  const options = { auth: { persistSession: false, autoRefreshToken: false } };
  const supabase = createClient(SUPABASE_URL, JSON.parse(SUPABASE_SECRET_KEYS).default, options);
  export default { async fetch(request) {
    const { username, project_id } = await request.json();
    const { data } = await supabase.from("activation_keys").select("project_id,curr_user")
      .match({ project_id, curr_user: username }).limit(1);
    return Response.json({ success: data?.length === 1 });
  } };`;

// A Data API that responds at once, compressed, as hosted projects do.
const { project_id, username: curr_user } = SEEDED;
const row = Buffer.from(JSON.stringify([{ project_id, curr_user }]));
const compressed = new Uint8Array(brotliCompressSync(row));
const headers = { "Content-Encoding": "br" };
await using dataApi = serveOnLoopback(() => new Response(compressed, { headers }));

const deno = await edgeDeno();
for (let round = 1; round <= ROUNDS; round++) {
  const speed = await measureMs(BARE) / await measureMs();
  console.log(`${round} of ${ROUNDS}: speed ${speed.toFixed(2)}`);
}

/** Returns the CPU time, in milliseconds, that the function or other code takes, on Linux. */
async function measureMs(code?: string): Promise<number> {
  // Outside of the project, as a deployed function is.
  await using copy = await makeTempFolder(FUNCTION_FOLDER);
  const folder = copy.url;
  if (code) await Deno.writeTextFile(new URL("index.ts", folder), code);
  await using handler = await startFunction(dataApi.url, { folder, deno });
  await load(handler.url, REQUESTS / 4); // Warms it up.
  const path = `/proc/${handler.pid}/schedstat`; // Of the main thread, in nanoseconds.
  const readMs = () => parseInt(Deno.readTextFileSync(path)) / 1e6;
  const beforeMs = readMs();
  await load(handler.url, REQUESTS);
  return readMs() - beforeMs;
}

/** Lets callers send the same well-formed request. Throws when a response is not a 200. */
async function load(url: URL, requests: number): Promise<void> {
  const body = JSON.stringify(SEEDED);
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    for (let sent = 0; sent < requests / CALLERS; sent++) {
      const response = await fetch(url, { method: "POST", body });
      await response.bytes();
      if (!response.ok) throw new Error(`Status ${response.status}`);
    }
  }));
}
