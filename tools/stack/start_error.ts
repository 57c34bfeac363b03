/** An error that a person can fix. Its message says what is wrong. */
export class StartError extends Error {}

/** Says why the stack did not start, and what to do next. */
export function explain(error: unknown, port: number): string {
  if (error instanceof StartError) return error.message;
  const { code, stack, syscall } = error as NodeJS.ErrnoException;
  const another = "Or take another port: deno task start --port 8321";
  if (syscall === "listen" && code === "EADDRINUSE") {
    return `Port ${port} is taken, perhaps by \`supabase start\` or by another ` +
      `\`deno task start\`. End that.\n${another}`;
  }
  if (syscall === "listen" && code === "EACCES") {
    // Windows reserves blocks of ports for Hyper-V, WSL and Docker.
    return `This system does not let you take port ${port}. On Windows, \`netsh interface ipv4 ` +
      `show excludedportrange protocol=tcp\` lists the ports that are reserved.\n${another}`;
  }
  return `This is a defect of the local stack:\n${stack}`;
}
