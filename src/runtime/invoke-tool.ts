import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { abortable } from "./abort-listeners.ts";
import {
  type BundleOutcome,
  type BundleRequest,
  convertEntryOutcome,
  fillInputs,
  type RunnableTool,
} from "./bundle.ts";
import {
  checkStructuredContent,
  convertOutcome,
  convertReturned,
  createErrorResult,
  describeRefusal,
} from "./convert-result.ts";
import { legacyContextKey } from "./handler-context.ts";
import type { CodeUse } from "./pack-resource.ts";
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
  let input = checked.value;
  const entryRequest = { ...request, arguments: checked.value };
  if (entry !== undefined) {
    try {
      input = fillInputs(entry, entryRequest);
    } catch (error) {
      return { result: createErrorResult((error as Error).message) };
    }
    // The inputs for a tool must match that tool's schema.
    const fitting = validator.checkOwned(code.inputSchema, input);
    if (!fitting.ok) {
      const reason = fitting.schemaFault ?? fitting.message;
      const message = `The entry's \`inputs\` do not match the tool's inputSchema: ${reason}`;
      return { result: createErrorResult(message) };
    }
    input = fitting.value;
  }
  if (legacyContext !== undefined)
    Object.defineProperty(input, legacyContextKey, { value: legacyContext, configurable: true });
  const runner = await getRunner();
  const { initialize, options } = code;
  // It may never settle, so the call's timeout applies.
  if (initialize !== undefined)
    await abortable(context.signal, () => runner.initialize(initialize, { options }));
  const ended = await runner.invoke(code.handler, input, context);
  const outcome =
    entry === undefined
      ? await convertOutcome(ended, (value) => convertReturned(value, leaveOut))
      : await convertEntryOutcome(entry, entryRequest, ended, leaveOut);
  if (!("result" in outcome)) return outcome;
  return { ...outcome, result: checkStructuredContent(outcome.result, outputSchema, validator) };
}
