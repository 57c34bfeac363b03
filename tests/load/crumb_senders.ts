/**
 * Callers that send bodies in pieces of one byte, without end and all at once, in a process of
 * their own. Each begins anew when it has its response. At the end it prints their statuses.
 *
 *     crumb_senders.ts <url> <how many> <seconds>
 */
const { hostname, port } = new URL(Deno.args[0] ?? "");
const endsAt = performance.now() + Number(Deno.args[2]) * 1_000;
const HEAD = new TextEncoder().encode(
  "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
);
const CRUMBS = new TextEncoder().encode("1\r\nx\r\n".repeat(2_000));

async function send(): Promise<string> {
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const tired = setTimeout(() => connection.close(), 10_000);
  let answered = false;
  const sending = (async () => {
    await connection.write(HEAD);
    while (!answered) await connection.write(CRUMBS);
  })().catch(() => {});
  const line = new Uint8Array(12);
  const length = await connection.read(line).catch(() => 0);
  answered = true;
  clearTimeout(tired);
  await Promise.race([sending, new Promise((done) => setTimeout(done, 10))]);
  return new TextDecoder().decode(line.subarray(9, length ?? 0)) || "none";
}

const statuses: string[] = [];
await Promise.all(Array.from({ length: Number(Deno.args[1]) }, async () => {
  while (performance.now() < endsAt) statuses.push(await send());
}));
console.log(JSON.stringify(statuses));
Deno.exit();
