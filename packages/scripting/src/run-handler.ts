import type { TrailblazeContext } from "./context.ts";
import { convertResult, convertThrown } from "./convert-result.ts";
import type { HandlerContext } from "./handlers.ts";
import { type InputRequests, isNeededInput, type NeededInput } from "./input.ts";
import type { CallToolResult } from "./results.ts";
import type { AnyTool } from "./tool-schema.ts";

type Run = (args: Record<string, unknown>, context: HandlerContext) => unknown;

/** The handler of a tool. Throws a `TypeError` if it is not a function: only a host can load references. */
export function handlerOf(tool: AnyTool): Run {
  // For example, a missing export, or one with another name.
  if (typeof tool !== "object" || tool === null) {
    throw new TypeError(
      `A tool must be a definition, but it is ${tool === null ? "null" : `a value of type ${typeof tool}`}.`,
    );
  }
  const { name, handler } = tool;
  if (typeof handler === "function") return handler as Run;
  throw new TypeError(
    typeof handler === "string"
      ? `The handler of ${JSON.stringify(name)} is the reference ${JSON.stringify(handler)}; here it must be a function.`
      : `The handler of ${JSON.stringify(name)} must be a function.`,
  );
}

const initialized = new WeakMap<object, Promise<unknown>>();

/** Runs `initialize` once per process; every call settles as that run does. */
async function initialize(tool: AnyTool, options: Readonly<Record<string, unknown>>): Promise<void> {
  const run: unknown = tool.initialize;
  if (run === undefined) return;
  if (typeof run !== "function") {
    throw new TypeError(`\`initialize\` of ${JSON.stringify(tool.name)} must be a function here.`);
  }
  let running = initialized.get(run);
  if (running === undefined) {
    running = (async () => run(Object.freeze({ options })))();
    initialized.set(run, running);
  }
  await running;
}

/** The arguments of a call without the context that a session adds. */
export function withoutContext(args: Record<string, unknown>): Record<string, unknown> {
  const { _trailblazeContext: _, ...own } = args;
  return own;
}

/** Runs a tool's handler as a host does. Never rejects: errors become results, and so do questions without `onAsked`. */
export async function runHandler(
  tool: AnyTool,
  own: Record<string, unknown>,
  {
    context,
    envelope,
    onAsked,
  }: {
    context: HandlerContext;
    envelope: TrailblazeContext | undefined;
    /** Answers with the result of the call after it was asked. */
    onAsked?: (asked: NeededInput) => Promise<CallToolResult>;
  },
): Promise<CallToolResult> {
  try {
    const run = handlerOf(tool);
    await initialize(tool, context.options);
    const args = { ...own };
    if (envelope !== undefined) Object.defineProperty(args, "_trailblazeContext", { value: envelope });
    const returned = await run(args, context);
    const result = convertResult(returned);
    const asked = result._meta?.trailblaze;
    if (onAsked === undefined || asked === undefined || !isNeededInput(returned)) return result;
    return await onAsked({ requests: asked.inputRequests as InputRequests, state: asked.state });
  } catch (thrown) {
    return convertThrown(thrown);
  }
}
