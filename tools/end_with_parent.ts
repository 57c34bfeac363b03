/** Ends the importing process when its standard input closes: when its parent has ended. */
(async () => {
  for await (const _chunk of Deno.stdin.readable);
  try {
    // Unlike `Deno.exit`, this ends Deno's watcher as well.
    Deno.kill(Deno.pid, "SIGKILL");
  } catch {
    Deno.exit(); // Deno 2.1 denies `Deno.kill` here. That version never runs with `--watch`.
  }
})();
