import { describeStop } from "../json-schema/check-budget.ts";
import type { SchemaCheck, SchemaValidator } from "../json-schema/schema-validator.ts";
import { type BundleOutcome, runBundleEntry } from "./bundle.ts";
import type { BundleRequest } from "./bundle-entry.ts";
import type { RunnableTool } from "./bundle-tools.ts";
import { checkStructuredContent, createErrorResult } from "./convert-result.ts";
import { type HandlerContext, legacyContextKey } from "./handler-context.ts";
import type { Outcome, OutcomeRunner } from "./tool-code.ts";
import { failedResult, type ToolResult } from "./tool-result.ts";

/** What a handler gets for a call that it makes itself. */
export type InnerResult = ToolResult & { isError: boolean };

/** One call of a tool that the host runs. */
export interface ToolInvocation {
  /** Held by the caller alone: defaults are filled into them. */
  args: Record<string, unknown>;
  /** What the templates of an entry see besides the arguments. */
  request: Omit<BundleRequest, "arguments">;
  context: Omit<HandlerContext, "options" | "callTool">;
  /** The non-enumerable `_trailblazeContext` of the handler's arguments, in a session. */
  legacyContext?: object;
  /** 0 for a call from outside, one more for each call inside another. */
  depth: number;
  maxDepth: number;
  callTool(name: string, args: unknown, depth: number): Promise<InnerResult>;
  /** The runner of the tool's code, after `initialize`. */
  getRunner(): Promise<OutcomeRunner>;
  validator: SchemaValidator;
  /** Whether the time of the call is over: for code that runs without a pause, so that no timer gets a turn. */
  isOverdue?: () => boolean;
}

/**
 * Calls a tool: checks its arguments, runs its handler with its context, checks its structured content. Rejects only as
 * `getRunner` and the runner do.
 */
export async function invokeTool(
  { code, entry }: RunnableTool,
  { args, request, legacyContext, validator, isOverdue, ...call }: ToolInvocation,
): Promise<BundleOutcome> {
  const { inputSchema, outputSchema } = entry ?? code;
  const checked = validator.checkOwned(inputSchema, args, isOverdue);
  if (!checked.ok) return { result: createErrorResult(describeRefusal(checked)) };
  const context: HandlerContext = {
    ...call.context,
    options: code.options,
    async callTool(name, args) {
      const depth = call.depth + 1;
      if (depth <= call.maxDepth) return call.callTool(name, args, depth);
      return { ...failedResult(`Calls are nested deeper than ${call.maxDepth}.`), isError: true };
    },
  };
  const runner = await call.getRunner();
  const withContext = (values: Record<string, unknown>) =>
    legacyContext === undefined
      ? values
      : Object.defineProperty(values, legacyContextKey, { value: legacyContext, configurable: true });
  if (entry === undefined) {
    const result = await runner.call(code.handler, withContext(checked.value), context);
    return { result: checkStructuredContent(result, outputSchema, validator, isOverdue) };
  }
  // Inputs for a tool must fit the tool's schema, too.
  let refusal: string | undefined;
  const invoke = async (inputs: Record<string, unknown>): Promise<Outcome> => {
    const fitting = validator.checkOwned(code.inputSchema, inputs, isOverdue);
    if (fitting.ok) return runner.invoke(code.handler, withContext(fitting.value), context);
    refusal = `The inputs break the schema of the tool: ${fitting.schemaFault ?? fitting.message}`;
    return { returned: { kind: "refused", message: refusal } };
  };
  const outcome = await runBundleEntry(entry, { ...request, arguments: checked.value }, invoke, isOverdue);
  if (refusal !== undefined) return { result: createErrorResult(refusal) };
  if ("error" in outcome) return outcome;
  return { result: checkStructuredContent(outcome.result, outputSchema, validator, isOverdue) };
}

/** Why arguments are refused. */
function describeRefusal({ message, schemaFault, stopped }: Extract<SchemaCheck, { ok: false }>): string {
  if (stopped !== undefined) return describeStop("the arguments", stopped);
  return schemaFault === undefined
    ? `The arguments break the schema: ${message}`
    : `The tool's inputSchema cannot be used: ${schemaFault}`;
}
