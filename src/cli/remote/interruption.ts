/** Runs something that Ctrl-C and SIGTERM may end in order, instead of ending the process at once. */
export async function withInterruption<Answer>(
  use: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    return await use(interruption.signal);
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
