/**
 * Imported by a process to end it when its standard input closes. That happens when the process
 * which started it ends, however it ends.
 */
(async () => {
  for await (const _chunk of Deno.stdin.readable);
  Deno.exit();
})();
