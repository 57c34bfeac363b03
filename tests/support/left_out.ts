/**
 * Gives a `test` for those that need something which Windows lacks: the only rule by which a test is
 * left out. It is printed, with the reason.
 */
export function testWith(
  need: "signals" | "fair sockets" | "the memory of a process",
  timeout = 0,
) {
  const ignore = Deno.build.os === "windows";
  return (name: string, fn: () => Promise<void>): void => {
    if (ignore) console.log(`Left out, because it needs ${need}: ${name}`);
    Deno.test({ name, ignore, timeout, fn });
  };
}
