import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { type BundleOutcome, type BundleRequest, type RunnableTool, runBundleEntry } from "./bundle.ts";
import {
  checkStructuredContent,
  convertOutcome,
  convertReturned,
  createErrorResult,
  describeRefusal,
} from "./convert-result.ts";
import { legacyContextKey, type RunContext } from "./handler-context.ts";
import type { LeaveOut } from "./mcp-shapes.ts";
import type { Outcome, OutcomeRunner } from "./tool-code.ts";
import { failedResult, type ToolResult } from "./tool-result.ts";

/** The result of a call that a handler makes. */
export type InnerResult = ToolResult & { isError: boolean };

/** One call of a tool that the host runs. */
export interface ToolInvocation {
  /** Owned by this call: validation fills defaults into them. */
  args: Record<string, unknown>;
  /** What the templates of an entry see besides the arguments. */
  request: Omit<BundleRequest, "arguments">;
  context: Omit<RunContext, "options" | "callTool">;
  /** The non-enumerable `_trailblazeContext` of the handler's arguments, in a session. */
  legacyContext?: object | undefined;
  /** 0 for a call from outside, one more for each nested call. */
  depth: number;
  maxDepth: number;
  callTool(name: string, args: unknown, depth: number): Promise<InnerResult>;
  /** The runner of the tool's code, after `initialize`. */
  getRunner(): Promise<OutcomeRunner>;
  validator: SchemaValidator;
  /** Called with what is left out of the answer. */
  leaveOut?: LeaveOut;
}

/**
 * Calls a tool: validates its arguments, runs its handler with its context, validates its structured content. Rejects
 * only as `getRunner` and the runner do.
 */
export async function invokeTool(
  { code, entry }: RunnableTool,
  call: ToolInvocation,
): Promise<BundleOutcome> {
  const { args, request, legacyContext, validator, leaveOut } = call;
  const { inputSchema, outputSchema } = entry ?? code;
  const checked = validator.checkOwned(inputSchema, args);
  if (!checked.ok) {
    return { result: createErrorResult(describeRefusal(request.name, checked)) };
  }
  const context: RunContext = {
    ...call.context,
    options: code.options,
    async callTool(name, args) {
      const depth = call.depth + 1;
      if (depth <= call.maxDepth) return call.callTool(name, args, depth);
      return {
        ...failedResult(`Tool calls are nested more than ${call.maxDepth} levels deep.`),
        isError: true,
      };
    },
  };
  const runner = await call.getRunner();
  const withContext = (values: Record<string, unknown>) =>
    legacyContext === undefined
      ? values
      : Object.defineProperty(values, legacyContextKey, { value: legacyContext, configurable: true });
  const checkResult = (outcome: BundleOutcome): BundleOutcome =>
    "result" in outcome
      ? { ...outcome, result: checkStructuredContent(outcome.result, outputSchema, validator) }
      : outcome;
  if (entry === undefined) {
    const returned = await runner.invoke(code.handler, withContext(checked.value), context);
    const outcome = convertOutcome(returned, (value) => convertReturned(value, leaveOut));
    // Most outcomes are none of a promise, and each `await` costs.
    return checkResult(outcome instanceof Promise ? await outcome : outcome);
  }
  // The inputs for a tool must match that tool's schema.
  let refusal: string | undefined;
  const invoke = async (inputs: Record<string, unknown>): Promise<Outcome> => {
    const fitting = validator.checkOwned(code.inputSchema, inputs);
    if (fitting.ok) return runner.invoke(code.handler, withContext(fitting.value), context);
    refusal = `The entry's \`inputs\` do not match the tool's inputSchema: ${fitting.schemaFault ?? fitting.message}`;
    return { returned: { kind: "refused", message: refusal } };
  };
  const filled = { ...request, arguments: checked.value };
  const outcome = await runBundleEntry(entry, filled, invoke, leaveOut);
  if (refusal !== undefined) return { result: createErrorResult(refusal) };
  return checkResult(outcome);
}
