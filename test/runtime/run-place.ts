import { convertReturned, createErrorResult } from "../../src/runtime/convert-result.ts";
import type { RunContext } from "../../src/runtime/handler-context.ts";
import { expectAnswer } from "../../src/runtime/input-rounds.ts";
import { type CodePlace, type CodeRunner, HandlerError, placeOfCode } from "../../src/runtime/tool-code.ts";

export const inModule = (handler: string) => placeOfCode(handler, "handler") as CodePlace;

export const inDefinition = (file: string, ...path: string[]): CodePlace => ({
  file,
  path: ["default", ...path],
});

export const createContext = (given: Partial<RunContext> = {}) => ({
  signal: new AbortController().signal,
  log: () => {},
  progress: () => {},
  options: {},
  callTool: async () => ({ content: [] }),
  ...given,
});

/** The result of a handler that asks nothing; for what fails in it, one with the message. */
export async function callCode(runner: CodeRunner, ...call: Parameters<CodeRunner["invoke"]>) {
  try {
    return convertReturned(await expectAnswer(await runner.invoke(...call)));
  } catch (error) {
    const isRefused = error instanceof Error && error.message.startsWith("The handler returned");
    if (error instanceof HandlerError || isRefused) return createErrorResult(error.message);
    throw error;
  }
}
