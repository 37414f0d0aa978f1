import { isRecord } from "../data/parse-json.ts";
import type { EntryTemplates } from "../expressions/bundle-templates.ts";
import { describePosition, ExpressionError } from "../expressions/expression-engine.ts";
import { quote } from "../problems/index.ts";
import { catchError, type RpcError } from "./bundle-catches.ts";
import { convertReturned, createErrorResult, findFaultOfResult } from "./convert-result.ts";
import type { Returned, Thrown } from "./returned-value.mjs";
import type { CallToolResult } from "./tool-result.ts";

/** A call of an entry, as its templates see it. All of it is JSON. */
export interface BundleRequest {
  name: string;
  /** Checked against the entry's `inputSchema` already, with its defaults. */
  arguments: Readonly<Record<string, unknown>>;
  /** `_meta` of the request; `{}` where it has none. */
  meta: Readonly<Record<string, unknown>>;
  session: {
    id: string;
    /** What the client said of itself; `{}` where it said nothing. */
    clientInfo: Readonly<Record<string, unknown>>;
    capabilities: Readonly<Record<string, unknown>>;
  };
}

/** Where the code of an entry is found. */
export type BundleHandler =
  /** A reference to a tool; what that tool's handler returns or throws is what the entry's templates see. */
  | { from: "tool"; reference: string }
  /** `./module.js#export`, as a tool's. */
  | { from: "module"; handler: string }
  /** A function in a definition that is code, at `path` from its top. */
  | { from: "definition"; path: readonly string[] };

/** What is said of an entry, as of a tool. */
export interface EntryTexts {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Readonly<Record<string, unknown>>;
  outputSchema?: Readonly<Record<string, unknown>>;
  annotations?: Readonly<Record<string, unknown>>;
  _meta?: Readonly<Record<string, unknown>>;
}

/** A tool of a bundle, compiled. None of its functions runs anything of the pack's. */
export interface BundleEntry extends EntryTexts {
  handler: BundleHandler;
  /** The arguments of the handler, which share nothing with the request. Throws `BundleFault`. */
  prepareInputs(request: BundleRequest, isOverdue?: () => boolean): Record<string, unknown>;
  /** The result of what the handler returned. Never throws. */
  buildResult(returned: Returned, request: BundleRequest, isOverdue?: () => boolean): CallToolResult;
  /** The error to answer for what the handler threw; `undefined` where the entry catches no such thing. Never throws. */
  mapError(thrown: Thrown, request: BundleRequest, isOverdue?: () => boolean): RpcError | undefined;
}

/** A template of an entry cannot be filled in. The message is for the caller of the tool. */
export class BundleFault extends Error {
  override readonly name = "BundleFault";
}

/** What is wrong with a template, as a sentence. */
export function describeTemplateFault(what: string, error: unknown): string {
  if (!(error instanceof ExpressionError)) return `${what}: it nests too deep or grows too large.`;
  const { expression, reason, offset } = error;
  return `${what}: ${quote(expression, 200)}: ${reason}${describePosition(expression, offset)}.`;
}

const resultFault = "The tool's `result` cannot be made";
const notAllowed = "The tool's `result` is not what MCP allows";
const inputsFault = "The tool's `inputs` cannot be made";

function readReturned(returned: Exclude<Returned, { kind: "refused" }>): unknown {
  if (returned.kind === "nothing") return null;
  return returned.kind === "text" ? returned.text : JSON.parse(returned.json);
}

function fillResult(
  template: NonNullable<EntryTemplates["result"]>,
  returned: Returned,
  { name, arguments: args }: BundleRequest,
  isOverdue?: () => boolean,
): CallToolResult {
  if (returned.kind === "refused") return createErrorResult(returned.message);
  try {
    const result = readReturned(returned);
    const value = template.evaluate({ result, request: { name, arguments: args } }, isOverdue);
    const fault = findFaultOfResult(value);
    return fault === undefined ? (value as CallToolResult) : createErrorResult(`${notAllowed}: ${fault}.`);
  } catch (error) {
    // Only a child whose code wants to can send what is no JSON.
    if (error instanceof SyntaxError)
      return createErrorResult("The handler returned something that is no JSON.");
    return createErrorResult(describeTemplateFault(resultFault, error));
  }
}

function fillInputs(
  template: EntryTemplates["inputs"],
  request: BundleRequest,
  isOverdue?: () => boolean,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = template === undefined ? request.arguments : template.evaluate({ request }, isOverdue);
    // A copy: what the handler does to it, `request` in other templates does not see.
    if (isRecord(value)) value = JSON.parse(JSON.stringify(value));
  } catch (error) {
    throw new BundleFault(describeTemplateFault(inputsFault, error));
  }
  if (isRecord(value)) return value;
  throw new BundleFault(`${inputsFault}: they must be an object.`);
}

/** Makes an entry of its texts and its templates. */
export function createBundleEntry(
  texts: EntryTexts,
  handler: BundleHandler,
  { inputs, result, catches }: EntryTemplates,
): BundleEntry {
  return {
    ...texts,
    handler,
    prepareInputs: (request, isOverdue) => fillInputs(inputs, request, isOverdue),
    buildResult: (returned, request, isOverdue) =>
      result === undefined ? convertReturned(returned) : fillResult(result, returned, request, isOverdue),
    mapError: (thrown, request, isOverdue) => catchError(catches, thrown, request, isOverdue),
  };
}
