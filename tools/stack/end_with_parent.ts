/**
 * Ends the process that imports it when its standard input closes, which happens when the process
 * that started it ends, in whatever way.
 */
(async () => {
  for await (const _chunk of Deno.stdin.readable);
  try {
    // Unlike `Deno.exit`, this ends Deno's watcher as well.
    Deno.kill(Deno.pid, "SIGKILL");
  } finally {
    // At Deno 2.1, `Deno.kill` needs a permission that the process lacks.
    Deno.exit();
  }
})();
