import { convertOutcome } from "../../src/runtime/convert-result.ts";
import type { RunContext } from "../../src/runtime/handler-context.ts";
import type { CodePlace, OutcomeRunner } from "../../src/runtime/tool-code.ts";

export const inModule = (root: string, handler: string): CodePlace => ({
  root,
  source: { from: "module", handler },
});

export const inDefinition = (root: string, file: string, ...path: string[]): CodePlace => ({
  root,
  source: { from: "definition", file, path },
});

export const createContext = (given: Partial<RunContext> = {}) => ({
  signal: new AbortController().signal,
  log: () => {},
  progress: () => {},
  options: {},
  callTool: async () => ({ content: [] }),
  ...given,
});

/** The result of a handler that asks nothing. */
export async function callCode(runner: OutcomeRunner, ...call: Parameters<OutcomeRunner["invoke"]>) {
  const outcome = await convertOutcome(await runner.invoke(...call));
  if ("inputRequired" in outcome) throw new Error("The handler asks for input.");
  return outcome.result;
}
