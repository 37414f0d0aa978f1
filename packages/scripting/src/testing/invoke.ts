import type { TrailblazeClient } from "../client.ts";
import type { ArgumentsOfTool } from "../define.ts";
import type { HandlerContext } from "../handlers.ts";
import { error } from "../result.ts";
import type { CallToolResult } from "../results.ts";
import { handlerOf, runHandler, withoutContext } from "../run-handler.ts";
import { type AnyTool, defaultOptionsOf, fillDefaults, inputSchemaOf } from "../tool-schema.ts";
import { createMockContext, type MockContext } from "./mock-context.ts";

/** What replaces the host in a test of a handler. */
export interface InvokeOptions {
  /** Default: `createMockContext()` with the defaults of the tool's options. */
  context?: HandlerContext;
  /** Answers the handler's calls of other tools. Default: the context's. */
  client?: TrailblazeClient;
}

function prepareContext(tool: AnyTool, { context, client }: InvokeOptions): HandlerContext {
  const given = context ?? createMockContext({ options: defaultOptionsOf(tool) });
  return client === undefined
    ? given
    : Object.freeze({
        ...given,
        client,
        callTool: (name: string, args: Record<string, unknown>) => client.callTool(name, args),
      });
}

/** `_trailblazeContext`, as the host creates it for a handler in its process. */
function envelopeOf({ device, ...context }: HandlerContext) {
  if (device === undefined) return undefined;
  const memory = (context as Partial<MockContext>).remembered?.() ?? {};
  return { memory, device };
}

/** Undoes a handler's writes to a mock's memory, which take effect only if the call succeeds. */
function forgetWrites(
  { memory, remembered }: Partial<MockContext>,
  before: Readonly<Record<string, string>>,
) {
  for (const name of Object.keys(remembered?.() ?? {})) memory?.delete(name);
  for (const [name, value] of Object.entries(before)) memory?.set(name, value);
}

/**
 * Runs a tool as a host does: fills in defaults, calls its handler, and converts what it returns or throws. Validates
 * arguments with a library's schema if the tool has one; of a JSON Schema, it checks only `required`. If the handler
 * fails, its writes to a mock's memory are undone. Never rejects because of the handler; throws a `TypeError` for a
 * definition whose handler is a reference.
 */
export async function invoke<Tool extends AnyTool>(
  tool: Tool,
  args: ArgumentsOfTool<Tool>,
  options: InvokeOptions = {},
): Promise<CallToolResult> {
  handlerOf(tool);
  const schema = inputSchemaOf(tool);
  const given = structuredClone(withoutContext((args ?? {}) as Record<string, unknown>));
  const filled = fillDefaults(schema, given) as Record<string, unknown>;
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(filled, name));
  if (missing.length > 0) return error(missing.map((name) => `/${name} is required`).join("; "));
  const context = prepareContext(tool, options);
  const before = (context as Partial<MockContext>).remembered?.();
  const result = await runHandler(tool, filled, { context, envelope: envelopeOf(context) });
  if (result.isError === true && before !== undefined) forgetWrites(context as Partial<MockContext>, before);
  return result;
}
