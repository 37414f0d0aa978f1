import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { markStopped } from "../exit-code.ts";
import { output } from "../output.ts";

/** Whether the command can prompt: stdin and stderr are terminals. */
export function canAsk(): boolean {
  return isatty(0) && isatty(2);
}

/** Asks for a yes; any other answer, and the end of the input, means no. */
export async function askForYes(question: string, signal?: AbortSignal): Promise<boolean> {
  output.note(`${question} [y/N]`);
  const lines = createInterface({ input: process.stdin, signal });
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
    return false;
  } finally {
    lines.close();
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs `use` with a signal that Ctrl-C, SIGTERM and the end of the terminal abort, instead of ending the process. If Ctrl-C
 * makes it throw, the command exits with 130.
 */
export async function withInterruption<Answer>(
  use: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const interruption = new AbortController();
  let received: NodeJS.Signals | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    received ??= signal;
    interruption.abort();
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await use(interruption.signal);
  } catch (error) {
    if (received === "SIGINT") markStopped(error);
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
