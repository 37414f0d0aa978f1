import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { output } from "../output.ts";

/** Whether the command can prompt: stdin and stderr are terminals. */
export function canAsk(): boolean {
  return isatty(0) && isatty(2);
}

/** Asks for a yes; any other answer, and the end of the input, means no. */
export async function askForYes(question: string, signal?: AbortSignal): Promise<boolean> {
  output.note(`${question} [y/N]`);
  const lines = createInterface({ input: process.stdin, ...(signal === undefined ? {} : { signal }) });
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
    return false;
  } finally {
    lines.close();
  }
}

/** Runs `use` with a signal that Ctrl-C and SIGTERM abort, instead of ending the process. */
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
