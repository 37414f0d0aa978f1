// How `run` and `invoke` run a tool: with the code of the host, so that it answers the same wherever it runs.
import { toInputSchema } from "../../../src/extension-schema/parameters.ts";
import * as validator from "../../../src/json-schema/schema-validator.ts";
import {
  checkStructuredContent,
  convertReturned,
  describeRefusal,
  runHandler,
} from "../../../src/runtime/convert-result.ts";
import { legacyContextKey, type RunContext } from "../../../src/runtime/handler-context.ts";
import { createInProcessRunner } from "../../../src/runtime/in-process-runner.ts";
import type { CodePlace } from "../../../src/runtime/tool-code.ts";
import type { CallToolResult } from "../../../src/runtime/tool-result.ts";
import { addClient } from "./client.ts";
import type { TrailblazeContext } from "./context.ts";
import type { ToolDefinition } from "./definitions.ts";
import type { ObjectSchema } from "./mcp.ts";

/** A definition with any arguments. */
export type AnyTool = ToolDefinition<never>;

type Data = Record<string, unknown>;
type Run = NonNullable<CodePlace["run"]>;

/** A function of a tool. Throws a `TypeError` for another value: only a host can load references. */
function functionOf(tool: AnyTool, key: "handler" | "initialize"): Run {
  const { name, [key]: value } = (tool ?? {}) as Partial<AnyTool>;
  const written = typeof value === "string" ? `, not the reference ${JSON.stringify(value)}` : "";
  if (typeof value === "function") return value as Run;
  throw new TypeError(`The ${key} of the tool ${JSON.stringify(name)} must be a function here${written}.`);
}

/** A tool that can be called. */
export interface RunnableTool {
  tool: AnyTool;
  inputSchema: ObjectSchema;
  handler: CodePlace;
  initialize: CodePlace | undefined;
}

/** Prepares a tool. Throws a `TypeError` if its handler or `initialize` is not a function. */
export function prepareTool(tool: AnyTool): RunnableTool {
  const run = functionOf(tool, "handler");
  return {
    tool,
    inputSchema: tool.inputSchema ?? toInputSchema(tool.parameters ?? {}),
    handler: { run: (args, context) => run(args, addClient(context)) },
    initialize: tool.initialize && { run: functionOf(tool, "initialize") },
  };
}

const runner = createInProcessRunner("");

/**
 * Runs a tool: checks its arguments, which the call owns, and adds defaults, runs its handler, checks its result. Rejects with
 * an error for the caller, or with the reason of the context's signal. `envelope`: what a session sends with the arguments.
 */
export async function runTool(
  { tool: { name, outputSchema }, inputSchema, handler, initialize }: RunnableTool,
  args: Data,
  context: RunContext,
  envelope: TrailblazeContext | undefined,
): Promise<CallToolResult> {
  const rejection = validator.check(inputSchema, args);
  if (rejection !== undefined) throw new Error(describeRefusal(name, rejection));
  if (envelope !== undefined) Object.defineProperty(args, legacyContextKey, { value: envelope });
  if (initialize !== undefined) await runner.initialize(initialize, context);
  const returned = await runHandler({ runner: async () => runner, context }, handler, args);
  return checkStructuredContent(convertReturned(returned), outputSchema, validator);
}
