import type { HandlerContext } from "./handler-context.ts";
import type { Returned, Thrown } from "./returned-value.mjs";
import type { CodePlace, CodeRunner } from "./tool-code.ts";

/** How a handler ended, before anything is made of it. */
export type Outcome = { returned: Returned } | { thrown: Thrown };

/** A runner that also tells what `call` makes a result of: for prompts, and for tools with templates and catches. */
export interface OutcomeRunner extends CodeRunner {
  /** Loads code without running it, where that can be done; rejects with why it cannot. */
  load?(place: CodePlace): Promise<void>;
  /** As `call`, without the conversion. */
  invoke(place: CodePlace, args: Record<string, unknown>, context: HandlerContext): Promise<Outcome>;
}

/** The same for the same function, as the key of a map. */
export function identifyPlace({ root, source }: CodePlace): unknown {
  return source.from === "function" ? source.run : JSON.stringify([root, source]);
}
