import { isRecord } from "../data/parse-json.ts";
import type { EntryTemplates } from "../expressions/bundle-templates.ts";
import { describePosition, ExpressionError } from "../expressions/expression-engine.ts";
import { quote } from "../problems/index.ts";
import { catchError, type RpcError } from "./bundle-catches.ts";
import { convertReturned, createErrorResult, findFaultOfResult } from "./convert-result.ts";
import type { LeaveOut } from "./mcp-shapes.ts";
import type { Returned, Thrown } from "./returned-value.mjs";
import type { CallToolResult } from "./tool-result.ts";

/** A call of an entry, as its templates see it. Pure JSON. */
export interface BundleRequest {
  name: string;
  /** Validated against the entry's `inputSchema`, defaults included. */
  arguments: Readonly<Record<string, unknown>>;
  /** `_meta` of the request; `{}` if absent. */
  meta: Readonly<Record<string, unknown>>;
  session: {
    /** `null` for a modern client, which has no session. */
    id: string | null;
    /** `clientInfo` of the client's `initialize` or, from a modern client, of the request; `{}` if absent. */
    clientInfo: Readonly<Record<string, unknown>>;
    capabilities: Readonly<Record<string, unknown>>;
  };
}

/** Where the code of an entry is. */
export type BundleHandler =
  /** A reference to a tool; the entry's templates see what that tool's handler returns or throws. */
  | { from: "tool"; reference: string }
  /** `./module.js#export`, as in a tool. */
  | { from: "module"; handler: string }
  /** A function in a definition that is code, at `path` from its default export. */
  | { from: "definition"; path: readonly string[] };

/** How an entry is advertised, as of a tool. */
export interface EntryTexts {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Readonly<Record<string, unknown>>;
  outputSchema?: Readonly<Record<string, unknown>>;
  annotations?: Readonly<Record<string, unknown>>;
  _meta?: Readonly<Record<string, unknown>>;
}

/** A compiled tool of a bundle. None of its functions runs the pack's code. */
export interface BundleEntry extends EntryTexts {
  handler: BundleHandler;
  /** The arguments of the handler, a copy. Throws `InputsError`. */
  prepareInputs(request: BundleRequest): Record<string, unknown>;
  /** The result for what the handler returned. Never throws. */
  buildResult(returned: Returned, request: BundleRequest, leaveOut?: LeaveOut): CallToolResult;
  /** The error to answer for what the handler threw; `undefined` if the entry does not catch it. Never throws. */
  mapError(thrown: Thrown, request: BundleRequest): RpcError | undefined;
}

/** The inputs of an entry cannot be evaluated. The message is for the caller of the tool. */
export class InputsError extends Error {
  override readonly name = "InputsError";
}

/** A failed template, as a sentence. */
export function describeTemplateError(what: string, error: unknown): string {
  if (!(error instanceof ExpressionError)) return `${what}: the value is nested too deeply or is too large.`;
  const { expression, reason, offset } = error;
  return `${what}: ${quote(expression, 200)}: ${reason}${describePosition(expression, offset)}.`;
}

const resultFailed = "Cannot evaluate the tool's `result`";
const notAllowed = "The tool's `result` is not a valid MCP result";
const inputsFailed = "Cannot evaluate the tool's `inputs`";

function readReturned(returned: Exclude<Returned, { kind: "refused" | "input" }>): unknown {
  if (returned.kind === "nothing") return null;
  return returned.kind === "text" ? returned.text : JSON.parse(returned.json);
}

function fillResult(
  template: NonNullable<EntryTemplates["result"]>,
  returned: Returned,
  { name, arguments: args }: BundleRequest,
  leaveOut?: LeaveOut,
): CallToolResult {
  if (returned.kind === "refused" || returned.kind === "input") return convertReturned(returned);
  try {
    const result = readReturned(returned);
    const value = template.evaluate({ result, request: { name, arguments: args } });
    const fault = findFaultOfResult(value, leaveOut);
    return fault === undefined ? (value as CallToolResult) : createErrorResult(`${notAllowed}: ${fault}.`);
  } catch (error) {
    // A hostile child process can send invalid JSON.
    if (error instanceof SyntaxError) return createErrorResult("The handler's result is not valid JSON.");
    return createErrorResult(describeTemplateError(resultFailed, error));
  }
}

function fillInputs(template: EntryTemplates["inputs"], request: BundleRequest): Record<string, unknown> {
  let value: unknown;
  try {
    value = template === undefined ? request.arguments : template.evaluate({ request });
    // A copy: other templates must not see the handler's changes to `request`.
    if (isRecord(value)) value = JSON.parse(JSON.stringify(value));
  } catch (error) {
    throw new InputsError(describeTemplateError(inputsFailed, error));
  }
  if (isRecord(value)) return value;
  throw new InputsError(`${inputsFailed}: the value must be an object.`);
}

/** Creates an entry from its texts and its compiled templates. */
export function createBundleEntry(
  texts: EntryTexts,
  handler: BundleHandler,
  { inputs, result, catches }: EntryTemplates,
): BundleEntry {
  return {
    ...texts,
    handler,
    prepareInputs: (request) => fillInputs(inputs, request),
    buildResult: (returned, request, leaveOut) =>
      result === undefined
        ? convertReturned(returned, leaveOut)
        : fillResult(result, returned, request, leaveOut),
    mapError: (thrown, request) => catchError(catches, thrown, request),
  };
}
