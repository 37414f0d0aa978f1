import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { abortable } from "./abort-listeners.ts";
import { answerError, type BundleRequest, fillInputs, fillResult, type RunnableTool } from "./bundle.ts";
import {
  type CodeUse,
  checkStructuredContent,
  convertReturned,
  describeRefusal,
  runHandler,
} from "./convert-result.ts";
import { legacyContextKey } from "./handler-context.ts";
import type { Round } from "./input-rounds.ts";
import type { CallToolResult } from "./tool-result.ts";

/**
 * Calls a tool: validates its arguments, runs its handler after `initialize`, validates its structured content. Rejects with an
 * error for the caller, with `EntryError` for what the handler of an entry has thrown, and as the runner does.
 *
 * `args` are owned by this call: validation fills defaults into them. `request`: what the templates of an entry see besides.
 * `legacyContext`: the non-enumerable `_trailblazeContext` of the handler's arguments, in a session.
 */
export async function invokeTool(
  { code, entry }: RunnableTool,
  use: CodeUse,
  {
    args,
    request,
    legacyContext,
    validator,
  }: {
    args: Record<string, unknown>;
    request: Omit<BundleRequest, "arguments">;
    legacyContext: object | undefined;
    validator: SchemaValidator;
  },
): Promise<Round<CallToolResult>> {
  const { inputSchema, outputSchema } = entry ?? code;
  const rejection = validator.check(inputSchema, args);
  if (rejection !== undefined) throw new Error(describeRefusal(request.name, rejection));
  let input = args;
  const entryRequest = { ...request, arguments: args };
  if (entry !== undefined) {
    // The inputs for a tool must match that tool's schema.
    input = fillInputs(entry, entryRequest);
    const unfit = validator.check(code.inputSchema, input);
    if (unfit !== undefined)
      throw new Error(`The entry's \`inputs\` do not match the tool's inputSchema: ${unfit.message}`);
  }
  if (legacyContext !== undefined)
    Object.defineProperty(input, legacyContextKey, { value: legacyContext, configurable: true });
  const { initialize, options } = code;
  if (initialize !== undefined) {
    const runner = await use.runner();
    // It may never settle, so the call's timeout applies.
    await abortable(use.context.signal, () => runner.initialize(initialize, { options }));
  }
  try {
    return await runHandler(use, code.handler, input, (returned) => {
      const result =
        entry === undefined
          ? convertReturned(returned, use.leaveOut)
          : fillResult(entry, returned, entryRequest, use.leaveOut);
      return checkStructuredContent(result, outputSchema, validator);
    });
  } catch (error) {
    throw entry === undefined ? error : answerError(entry, error, entryRequest);
  }
}
