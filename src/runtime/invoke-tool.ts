import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { abortable } from "./abort-listeners.ts";
import { type BundleOutcome, type BundleRequest, type RunnableTool, runBundleEntry } from "./bundle.ts";
import {
  checkStructuredContent,
  convertOutcome,
  convertReturned,
  createErrorResult,
  describeRefusal,
} from "./convert-result.ts";
import { legacyContextKey } from "./handler-context.ts";
import type { CodeUse } from "./pack-resource.ts";
import type { Outcome } from "./tool-code.ts";
import type { ToolResult } from "./tool-result.ts";

/** The result of a call that a handler makes. */
export type InnerResult = ToolResult & { isError: boolean };

/** One call of a tool that the host runs. */
export interface ToolInvocation {
  /** Owned by this call: validation fills defaults into them. */
  args: Record<string, unknown>;
  /** What the templates of an entry see besides the arguments. */
  request: Omit<BundleRequest, "arguments">;
  /** The non-enumerable `_trailblazeContext` of the handler's arguments, in a session. */
  legacyContext: object | undefined;
  validator: SchemaValidator;
}

/**
 * Calls a tool: validates its arguments, runs its handler after `initialize`, validates its structured content. Rejects
 * only as the runner does, or with the reason of the signal.
 */
export async function invokeTool(
  { code, entry }: RunnableTool,
  { runner: getRunner, context, leaveOut }: CodeUse,
  { args, request, legacyContext, validator }: ToolInvocation,
): Promise<BundleOutcome> {
  const { inputSchema, outputSchema } = entry ?? code;
  const checked = validator.checkOwned(inputSchema, args);
  if (!checked.ok) return { result: createErrorResult(describeRefusal(request.name, checked)) };
  const runner = await getRunner();
  const { initialize, options } = code;
  // It may never settle, so the call's timeout applies.
  if (initialize !== undefined)
    await abortable(context.signal, () => runner.initialize(initialize, { options }));
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
