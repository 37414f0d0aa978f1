import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { failure } from "../problems/index.ts";
import { output } from "./output.ts";

/** Whether the command can prompt: stdin and stderr are terminals. */
export function canAsk(): boolean {
  return isatty(0) && isatty(2);
}

/** Throws `InvalidArguments` if the command cannot prompt. */
export function requireTerminal(what: string, hint: string): void {
  if (canAsk()) return;
  throw failure("InvalidArguments", { reason: `Cannot ask for ${what} without a terminal`, hint });
}

/** The terminal, or a test's. */
export interface Terminal {
  input: NodeJS.ReadableStream;
  note(text: string): void;
}

/** Asks a question. Resolves with the trimmed line, or with `undefined` if the input has ended. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Lets `use` ask one question after the other. Lines that the user types ahead are kept. */
export async function withAsk<Answer>(
  use: (ask: Ask) => Promise<Answer>,
  signal?: AbortSignal,
  { input, note }: Terminal = { input: process.stdin, note: output.note },
): Promise<Answer> {
  const lines = createInterface({ input, signal });
  const iterator = lines[Symbol.asyncIterator]();
  try {
    return await use(async (question) => {
      note(question);
      const { done, value } = await iterator.next();
      return done ? undefined : String(value).trim();
    });
  } finally {
    lines.close();
  }
}

/** Any other answer than a yes, and the end of the input, means no. */
export const askForYes = (question: string, signal?: AbortSignal): Promise<boolean> =>
  withAsk(async (ask) => /^y(es)?$/i.test((await ask(`${question} [y/N]`)) ?? ""), signal);
