// The tools that the host runs, and bundles: tools whose inputs, results and errors are templates around the code of others.
import { isRecord } from "../data/parse-json.ts";
import { locateProblems } from "../data/source-text.ts";
import type { EntryTemplates } from "../expressions/templates.ts";
import { attempt } from "../files/file-errors.ts";
import { type InspectedItem, placeInItem } from "../inspection/types.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { abortable } from "./abort-listeners.ts";
import {
  type CodeUse,
  checkStructuredContent,
  convertReturned,
  describeRefusal,
  findFaultOfResult,
  runHandler,
} from "./convert-result.ts";
import type { Returned } from "./handler-code.mjs";
import { legacyContextKey } from "./handler-context.ts";
import type { LeaveOut } from "./mcp-shapes.ts";
import { type CodeOwner, type CodePlace, HandlerError, placeOfCode } from "./tool-code.ts";
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

export interface BundleEntry {
  name: string;
  inputSchema: Readonly<Record<string, unknown>>;
  outputSchema?: Readonly<Record<string, unknown>>;
  _meta?: Readonly<Record<string, unknown>>;
  /** As written: a reference to a tool, `./module.js#export`, or a function in a definition that is code. */
  handler: unknown;
  templates: EntryTemplates;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

const internalErrorCode = -32603;
const generalMessage = "The tool failed.";

/** The answer to an error that no entry of `catches` matches. It reveals nothing to the client. */
export const createGeneralError = (): RpcError => ({ code: internalErrorCode, message: generalMessage });

/** How an entry answers what its handler has thrown. `cause`: what was thrown, if no entry of `catches` matched; it has the message. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  readonly answer: RpcError;

  constructor(answer: RpcError, cause?: HandlerError) {
    super(cause?.message ?? answer.message, { cause });
    this.answer = answer;
  }
}

type CatchTemplates = EntryTemplates["catches"][number];
type Scope = Readonly<Record<string, unknown>>;

/** A condition that fails to evaluate does not hold. */
const holds = ({ when }: CatchTemplates, scope: Scope): boolean =>
  when === undefined || attempt(() => when(scope)) === true;

const isCatchAll = ({ code, when }: CatchTemplates) => code === undefined && when === undefined;

function toCode(value: unknown): number {
  const code = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof code === "number" && Number.isSafeInteger(code) ? code : internalErrorCode;
}

function toMessage(value: unknown): string {
  if (value === undefined || value === null) return generalMessage;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fillError({ error }: CatchTemplates, scope: Scope): RpcError {
  const fill = () => {
    const answer = error(scope);
    const { code, message, data } = isRecord(answer) ? answer : ({} as Record<string, unknown>);
    return { code: toCode(code), message: toMessage(message), data: data ?? undefined };
  };
  return attempt(fill) ?? createGeneralError();
}

/** What a template evaluates to. Throws an error for the caller. */
function evaluate<Value>(key: "inputs" | "result", run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    const { message } = error as Error;
    const reason = error instanceof RangeError ? "the value is nested too deeply or is too large" : message;
    throw new Error(`Cannot evaluate the tool's \`${key}\`: ${reason}.`);
  }
}

/** The arguments of an entry's handler. Throws an error for the caller if there are none. */
export function fillInputs({ inputs }: EntryTemplates, request: BundleRequest): Record<string, unknown> {
  return evaluate("inputs", () => {
    const value = inputs === undefined ? request.arguments : inputs({ request });
    if (!isRecord(value)) throw new Error("the value must be an object");
    // A copy: other templates must not see the handler's changes to `request`.
    return JSON.parse(JSON.stringify(value));
  });
}

/** The result for what the handler of an entry returned. Throws an error for the caller if there is none. */
export function fillResult(
  { result: template }: EntryTemplates,
  returned: Returned,
  { name, arguments: args }: BundleRequest,
  leaveOut?: LeaveOut,
): CallToolResult {
  if (template === undefined || returned.kind === "refused") return convertReturned(returned, leaveOut);
  const ofText = returned.kind === "text" ? returned.text : null;
  const result: unknown = returned.kind === "json" ? JSON.parse(returned.json) : ofText;
  const value = evaluate("result", () => template({ result, request: { name, arguments: args } }));
  const fault = findFaultOfResult(value, leaveOut);
  if (fault !== undefined) throw new Error(`The tool's \`result\` is not a valid MCP result: ${fault}.`);
  return value as CallToolResult;
}

/**
 * The `EntryError` for what the handler of an entry has thrown; any other error as it is. The first entry of `catches` that matches
 * answers; those with neither code nor condition are tried last, and only they match an error without a code.
 */
export function answerError({ catches }: EntryTemplates, error: unknown, request: BundleRequest): unknown {
  if (!(error instanceof HandlerError)) return error;
  const { code, message, data } = error.thrown;
  // All three keys are always present.
  const thrown = { code: code ?? null, message, data: data === undefined ? null : JSON.parse(data) };
  const scope = { error: thrown, request };
  const fits = (one: CatchTemplates) =>
    !isCatchAll(one) && (one.code === undefined || one.code === String(code)) && holds(one, scope);
  const found = (code === undefined ? undefined : catches.find(fits)) ?? catches.find(isCatchAll);
  return found === undefined
    ? new EntryError(createGeneralError(), error)
    : new EntryError(fillError(found, scope));
}

/** A tool that the host runs, ready to be called: a function of a module, or another tool, which may be in an entry of a bundle. */
export interface RunnableTool {
  /** The name and the qualified name of the tool; `undefined` for a module's function. */
  names?: readonly string[];
  owner: CodeOwner;
  handler: CodePlace;
  initialize?: CodePlace | undefined;
  options: Readonly<Record<string, unknown>>;
  /** The tool's schemas; `undefined` for a module's function. */
  inputSchema?: Readonly<Record<string, unknown>>;
  outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Set for an entry of a bundle, whose schemas then apply. */
  entry?: BundleEntry;
}

/**
 * Calls a tool: validates its arguments, runs its handler after `initialize`, validates its structured content. Rejects with an
 * error for the caller, with `EntryError` for what the handler of an entry has thrown, and as the runner does.
 *
 * `args` are owned by this call: validation fills defaults into them. `request`: what the templates of an entry see besides.
 * `legacyContext`: the non-enumerable `_trailblazeContext` of the handler's arguments, in a session.
 */
export async function invokeTool(
  tool: RunnableTool,
  use: CodeUse,
  call: {
    args: Record<string, unknown>;
    request: Omit<BundleRequest, "arguments">;
    legacyContext: object | undefined;
    validator: SchemaValidator;
  },
): Promise<CallToolResult> {
  const { args, request, legacyContext, validator } = call;
  const { entry, initialize, options } = tool;
  const { inputSchema, outputSchema } = entry ?? tool;
  const rejection = validator.check(inputSchema, args);
  if (rejection !== undefined) throw new Error(describeRefusal(request.name, rejection));
  let input = args;
  const entryRequest = { ...request, arguments: args };
  if (entry !== undefined) {
    // The inputs for a tool must match that tool's schema.
    input = fillInputs(entry.templates, entryRequest);
    const unfit = validator.check(tool.inputSchema, input);
    if (unfit !== undefined)
      throw new Error(`The entry's \`inputs\` do not match the tool's inputSchema: ${unfit.message}`);
  }
  if (legacyContext !== undefined)
    Object.defineProperty(input, legacyContextKey, { value: legacyContext, configurable: true });
  if (initialize !== undefined) {
    const runner = await use.runner();
    // It may never settle, so the call's timeout applies.
    await abortable(use.context.signal, () => runner.initialize(initialize, { options }));
  }
  try {
    const returned = await runHandler(use, tool.handler, input);
    const result =
      entry === undefined
        ? convertReturned(returned, use.leaveOut)
        : fillResult(entry.templates, returned, entryRequest, use.leaveOut);
    return checkStructuredContent(result, outputSchema, validator);
  } catch (error) {
    throw entry === undefined ? error : answerError(entry.templates, error, entryRequest);
  }
}

type WrittenEntry = Omit<BundleEntry, "inputSchema" | "templates"> & {
  argumentsSchema?: BundleEntry["inputSchema"];
};

/**
 * Compiles a bundle of a pack, a valid definition, without running code. `findTool` returns the tool that a reference names, or a
 * problem. A bundle with an error offers no tools.
 */
export async function createBundleTools(
  item: InspectedItem,
  owner: CodeOwner,
  findTool: (reference: string) => RunnableTool | Problem,
): Promise<{ tools: (RunnableTool & { entry: BundleEntry })[]; problems: Problem[] }> {
  const { compileEntryTemplates } = await import("../expressions/templates.ts");
  const { entries: all = [] } = item.definition ?? {};
  const [faults, missing]: [Problem[], Problem[]] = [[], []];
  const tools = (all as WrittenEntry[]).flatMap(
    ({ argumentsSchema: inputSchema = { type: "object" }, ...written }, index) => {
      const templates = compileEntryTemplates({ ...written }, ["entries", index], ({ path, ...args }) =>
        faults.push(createProblem("InvalidExpression", args, { path })),
      );
      const entry: BundleEntry = { ...written, inputSchema, templates };
      const { handler } = entry;
      // The same test as in definitions.
      if (typeof handler === "string" && !/^\.\.?\//.test(handler)) {
        const tool = findTool(handler);
        if (!("code" in tool)) return [{ ...tool, entry }];
        missing.push({ ...tool, path: ["entries", index, "handler"] });
        return [];
      }
      const place = placeOfCode(handler, ["entries", String(index), "handler"], item);
      return place === undefined ? [] : [{ owner, handler: place, options: {}, entry }];
    },
  );
  const problems = [...faults, ...missing];
  const isBroken = problems.some(({ severity }) => severity === "error");
  const placed = await locateProblems(problems.map((problem) => placeInItem(item, problem)));
  return { tools: isBroken ? [] : tools, problems: placed };
}

export function entryNamesOf({ definition }: InspectedItem): string[] {
  const entries = Array.isArray(definition?.entries) ? definition.entries.filter(isRecord) : [];
  return entries.map(({ name }) => String(name));
}
