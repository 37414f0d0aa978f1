import { isRecord } from "../data/parse-json.ts";
import { compileEntryTemplates } from "../expressions/bundle-templates.ts";
import { describePosition, type ExpressionEngine } from "../expressions/expression-engine.ts";
import type { Path } from "../problems/index.ts";
import { createGeneralError, type RpcError } from "./bundle-catches.ts";
import {
  type BundleEntry,
  type BundleHandler,
  type BundleRequest,
  createBundleEntry,
  type EntryTexts,
  InputsError,
} from "./bundle-entry.ts";
import { convertOutcome, createErrorResult, type ToolOutcome } from "./convert-result.ts";
import type { LeaveOut } from "./mcp-shapes.ts";
import type { Thrown } from "./returned-value.mjs";
import type { Outcome } from "./tool-code.ts";

/** An expression that does not compile: the arguments of the problem `InvalidExpression`, and its place. */
export interface BundleExpressionFault {
  expression: string;
  reason: string;
  /** Keys from the top of the definition. */
  path: Path;
}

/** A compiled bundle. It must not be served if it has faults. */
export interface Bundle {
  /** `metadata.name`. */
  name: string;
  description: string | undefined;
  entries: readonly BundleEntry[];
  faults: readonly BundleExpressionFault[];
}

function readHandler({ handler }: Readonly<Record<string, unknown>>, index: number): BundleHandler {
  if (typeof handler !== "string") return { from: "definition", path: ["entries", String(index), "handler"] };
  // The same test as in definitions.
  return /^\.\.?\//.test(handler) ? { from: "module", handler } : { from: "tool", reference: handler };
}

function readTexts(entry: Readonly<Record<string, unknown>>): EntryTexts {
  const { name, title, description, argumentsSchema, outputSchema, annotations, _meta } = entry;
  return {
    name: String(name),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: isRecord(argumentsSchema) ? argumentsSchema : { type: "object" },
    ...(isRecord(outputSchema) ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

/**
 * Compiles a definition of the shape `toolsBundle` once, before it is served. Collects all faults. Runs none of the
 * pack's code.
 */
export function compileBundle(
  definition: Readonly<Record<string, unknown>>,
  { engine }: { engine: ExpressionEngine },
): Bundle {
  const faults: BundleExpressionFault[] = [];
  const { metadata, description, entries: written } = definition;
  const entries = (Array.isArray(written) ? written : []).flatMap((entry: unknown, index) => {
    if (!isRecord(entry)) return [];
    const templates = compileEntryTemplates(entry, {
      engine,
      path: ["entries", index],
      onFault: ({ expression, reason, offset, path }) =>
        faults.push({ expression, reason: `${reason}${describePosition(expression, offset)}`, path }),
    });
    return [createBundleEntry(readTexts(entry), readHandler(entry, index), templates)];
  });
  return {
    name: isRecord(metadata) ? String(metadata.name) : "",
    description: typeof description === "string" ? description : undefined,
    entries,
    faults,
  };
}

/** How a call of an entry ended. `uncaught` is what the handler threw if no entry of `catches` matched. */
export type BundleOutcome = ToolOutcome | { error: RpcError; uncaught?: Thrown };

/**
 * Calls an entry: evaluates its inputs, invokes the handler with them, and builds the answer. Rejects only as `invoke`
 * does. A template that fails yields a result with `isError`.
 */
export async function runBundleEntry(
  entry: BundleEntry,
  request: BundleRequest,
  invoke: (args: Record<string, unknown>) => Promise<Outcome>,
  leaveOut?: LeaveOut,
): Promise<BundleOutcome> {
  let args: Record<string, unknown>;
  try {
    args = entry.prepareInputs(request);
  } catch (error) {
    if (error instanceof InputsError) return { result: createErrorResult(error.message) };
    throw error;
  }
  const outcome = await invoke(args);
  if ("returned" in outcome)
    return convertOutcome(outcome, (returned) => entry.buildResult(returned, request, leaveOut));
  const error = entry.mapError(outcome.thrown, request);
  return error === undefined ? { error: createGeneralError(), uncaught: outcome.thrown } : { error };
}
