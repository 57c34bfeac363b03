/** An error that a person can fix. Its message says what is wrong. */
export class StartError extends Error {}

/** Says why the stack did not start, and what to do next. */
export function explain(error: unknown, port: number): string {
  if (error instanceof StartError) return error.message;
  const { code = "", stack, syscall } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE:
      `Port ${port} is taken, perhaps by \`supabase start\` or by another ` +
      "`deno task start`. End that.",
    EACCES:
      `This system does not let you take port ${port}: ports below 1024 may be for ` +
      "administrators, and Windows reserves blocks of ports for Hyper-V, WSL or Docker, which " +
      "`netsh interface ipv4 show excludedportrange protocol=tcp` lists.",
  };
  const reason = syscall === "listen" && reasons[code];
  if (!reason) return `This is a defect of the local stack:\n${stack}`;
  return `${reason}\nOr take another port: deno task start --port 8321`;
}
