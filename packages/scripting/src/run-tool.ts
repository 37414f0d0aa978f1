// How `run` and `invoke` run a tool: as a host does, so that it answers the same wherever it runs.
import { describeReturned, describeThrown, type Returned } from "../../../src/runtime/returned-value.mjs";
import { isObject, type TrailblazeContext } from "./context.ts";
import type { ToolDefinition } from "./definitions.ts";
import type { HandlerContext } from "./handlers.ts";
import type { NeededInput } from "./input.ts";
import type { ObjectSchema } from "./mcp.ts";
import { type CallToolResult, error } from "./result.ts";

/** A definition with any arguments. */
export type AnyTool = ToolDefinition<never>;

type Data = Record<string, unknown>;

/** The JSON Schema of a tool's arguments, also for the short `parameters`. */
export function inputSchemaOf({ inputSchema, parameters = {} }: AnyTool): ObjectSchema {
  if (inputSchema !== undefined) return inputSchema;
  const entries = Object.entries(parameters);
  const properties = entries.map(([name, { required: _, ...schema }]) => [name, schema] as const);
  const required = entries.flatMap(([name, { required }]) => (required === true ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** A copy of a value with the schema's defaults filled in, at every level. */
export function fillDefaults(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fillDefaults(schema.items, item));
  if (!isObject(value)) return value;
  const filled = new Map(Object.entries(value));
  for (const [name, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (filled.has(name)) filled.set(name, fillDefaults(property, filled.get(name)));
    else if (isObject(property) && property.default !== undefined)
      filled.set(name, structuredClone(property.default));
  }
  return Object.fromEntries(filled);
}

/** The default values of a tool's options. */
export const defaultOptionsOf = ({ options = {} }: AnyTool): Readonly<Data> =>
  Object.freeze(
    Object.fromEntries(
      Object.entries(options).flatMap(([name, option]) =>
        option.default === undefined ? [] : [[name, structuredClone(option.default)]],
      ),
    ),
  );

/** The arguments of a call without the context that a session adds. */
export function withoutContext({ _trailblazeContext: _, ...args }: Data): Data {
  return args;
}

/** The result of a handler's question, as a session without a user reports it. */
function questionResult({ requests: inputRequests, state }: NeededInput): CallToolResult {
  const trailblaze = { variant: "InputRequired", inputRequests, ...(state === undefined ? {} : { state }) };
  return { ...error("The tool needs input."), _meta: { trailblaze: trailblaze as never } };
}

function convertReturned(described: Returned): CallToolResult {
  switch (described.kind) {
    case "nothing":
      return { content: [] };
    case "text":
      return { content: [{ type: "text", text: described.text }] };
    case "refused":
      return error(described.message);
    case "input":
      return questionResult(JSON.parse(described.json));
  }
  const { json } = described;
  const value: unknown = JSON.parse(json);
  const text: CallToolResult = { content: [{ type: "text", text: json }] };
  if (!isObject(value)) return text;
  const { content } = value;
  const isResult = Array.isArray(content) && content.every((block) => typeof block?.type === "string");
  return isResult ? (value as CallToolResult) : { ...text, structuredContent: value };
}

/** Converts what a handler returned (not a promise) to a result, which shares nothing with the value. Never throws. */
export const convertResult = (returned: unknown): CallToolResult =>
  convertReturned(describeReturned(returned));

/** Converts what a handler threw to a result with the message, without a stack. Never throws. */
export const convertThrown = (thrown: unknown): CallToolResult => error(describeThrown(thrown).message);

type Run = (args: Data, context: HandlerContext) => unknown;

/** The handler of a tool. Throws a `TypeError` if it is not a function: only a host can load references. */
export function handlerOf(tool: AnyTool): Run {
  const { name, handler } = (tool ?? {}) as Partial<AnyTool>;
  if (typeof handler === "function") return handler as Run;
  const written = typeof handler === "string" ? `, not the reference ${JSON.stringify(handler)}` : "";
  throw new TypeError(`The handler of the tool ${JSON.stringify(name)} must be a function here${written}.`);
}

const initialized = new WeakMap<object, Promise<unknown>>();

/** Runs `initialize` once per process; every call settles as that run does. */
async function initialize({ name, initialize }: AnyTool, options: Readonly<Data>): Promise<void> {
  if (initialize === undefined) return;
  if (typeof initialize !== "function")
    throw new TypeError(`\`initialize\` of the tool ${JSON.stringify(name)} must be a function here.`);
  const run: (context: object) => unknown = initialize;
  const running = initialized.get(run) ?? (async () => run(Object.freeze({ options })))();
  initialized.set(run, running);
  await running;
}

/** Runs a tool's handler. Never rejects: errors and questions become results. `question`: what it asks first. */
export async function runHandler(
  tool: AnyTool,
  args: Data,
  context: HandlerContext,
  envelope: TrailblazeContext | undefined,
): Promise<{ result: CallToolResult; question?: NeededInput }> {
  try {
    await initialize(tool, context.options);
    if (envelope !== undefined) Object.defineProperty(args, "_trailblazeContext", { value: envelope });
    const returned = describeReturned(await handlerOf(tool)(args, context));
    const result = convertReturned(returned);
    return returned.kind === "input" ? { result, question: JSON.parse(returned.json) } : { result };
  } catch (thrown) {
    return { result: convertThrown(thrown) };
  }
}
