/**
 * Imported by a process to end it when its standard input closes. That happens when the process
 * which started it ends, however it ends.
 */
(async () => {
  for await (const _chunk of Deno.stdin.readable);
  try {
    // Unlike `Deno.exit`, it ends Deno's watcher as well.
    Deno.kill(Deno.pid, "SIGKILL");
  } finally {
    // Deno 2.1 has no permission for that.
    Deno.exit();
  }
})();
