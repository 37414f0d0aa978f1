import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { output } from "../output.ts";

/** Whether there is somebody to ask: what they read and where they type are a terminal. */
export function canAsk(): boolean {
  return isatty(0) && isatty(2);
}

/** Asks for a yes; anything else, and the end of input, is a no. */
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
