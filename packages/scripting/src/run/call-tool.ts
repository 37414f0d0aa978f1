import { checkProgress, toLogData } from "../../../../src/runtime/returned-value.mjs";
import { clientFrom } from "../client-from.ts";
import { contextFrom, type TrailblazeCall } from "../context-from.ts";
import type { LogLevel, ToolContext } from "../handlers.ts";
import type { InputAnswers, NeededInput } from "../input.ts";
import { error } from "../result.ts";
import type { CallToolResult } from "../results.ts";
import { runHandler, withoutContext } from "../run-handler.ts";
import { type AnyTool, defaultOptionsOf, fillDefaults, inputSchemaOf } from "../tool-schema.ts";
import { type AskedClient, askClient, findInputFault } from "./ask-client.ts";
import { CallMemory } from "./call-memory.ts";
import type { Check } from "./check-value.ts";

/** What a call needs from its server. */
export interface CallServices {
  signal: AbortSignal;
  check: Check;
  log(level: LogLevel, data: unknown): Promise<void>;
  progress(step: { progress: number; total?: number; message?: string }): Promise<void>;
  client: AskedClient;
}

/** How often a handler may ask in one call. */
const mostRounds = 8;

interface CallParams {
  arguments?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}

const levels: ReadonlySet<string> = new Set<LogLevel>([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);

/** The context of a handler. After `isOver` returns true, the context no longer reaches the host. */
function createContext(
  tool: AnyTool,
  { signal, log, progress }: CallServices,
  {
    call,
    memory,
    isOver,
    ...round
  }: {
    call: TrailblazeCall | undefined;
    memory: CallMemory;
    isOver: () => boolean;
    input?: InputAnswers;
    state?: unknown;
  },
): ToolContext {
  const client = clientFrom(call, { signal });
  const ignore = () => {};
  return Object.freeze({
    signal,
    options: defaultOptionsOf(tool),
    log: (level: LogLevel, data: unknown) => {
      // Clients reject levels that MCP does not have.
      if (!isOver()) log(levels.has(level) ? level : "info", toLogData(data)).catch(ignore);
    },
    progress: async (done: number, total?: number, message?: string) => {
      checkProgress(done, total, message);
      if (!isOver()) await progress({ progress: done, total, message }).catch(ignore);
    },
    callTool: (name: string, args: Record<string, unknown>) => client.callTool(name, args),
    client,
    ...round,
    ...(call === undefined ? {} : { device: call.device, memory }),
    ...(call?.sessionId === undefined ? {} : { sessionId: call.sessionId }),
    ...(call?.invocationId === undefined ? {} : { invocationId: call.invocationId }),
  });
}

/** Executes a `tools/call`: validates the arguments, runs the handler, returns its writes to memory. Never rejects. */
export async function callTool(
  tool: AnyTool,
  params: CallParams,
  services: CallServices,
): Promise<CallToolResult> {
  const given = params.arguments ?? {};
  const call = contextFrom(given, params);
  const schema = inputSchemaOf(tool);
  const args = fillDefaults(schema, withoutContext(given)) as Record<string, unknown>;
  const fault = services.check(schema, args);
  if (fault !== undefined) return error(`Invalid arguments for ${JSON.stringify(tool.name)}: ${fault}`);
  const envelope = call && { memory: call.memory, device: call.device };
  /** Runs the handler from its beginning, with what it was answered before. */
  const run = async (
    rounds: number,
    round: { input?: InputAnswers; state?: unknown },
  ): Promise<CallToolResult> => {
    const memory = new CallMemory(call?.memory ?? {});
    let hasEnded = false;
    const context = createContext(tool, services, { call, memory, isOver: () => hasEnded, ...round });
    let next: CallToolResult | undefined;
    const onAsked = async ({ state, ...asked }: NeededInput) => {
      hasEnded = true;
      const fault = findInputFault(asked.requests);
      if (fault !== undefined) {
        const message = `The handler asks for input with an invalid request: ${fault}.`;
        process.stderr.write(`${tool.name}: ${message}\n`);
        return error(message);
      }
      if (rounds === mostRounds) return error(`The tool asked for input more than ${mostRounds} times.`);
      const input = await askClient(asked, services.client, services.check);
      if (typeof input === "string") return error(input);
      next = await run(rounds + 1, { input, ...(state === undefined ? {} : { state }) });
      return next;
    };
    const result = await runHandler(tool, structuredClone(args), { context, envelope, onAsked });
    hasEnded = true;
    return next ?? memory.writeBack(checkOutput(tool, result, services.check));
  };
  return run(0, {});
}

function checkOutput({ outputSchema }: AnyTool, result: CallToolResult, check: Check): CallToolResult {
  if (outputSchema === undefined || result.isError === true) return result;
  if (Object.keys(outputSchema).length === 0) return result;
  if (result.structuredContent === undefined) {
    return error("The tool has an outputSchema, but its result has no structuredContent.");
  }
  const fault = check(outputSchema, result.structuredContent);
  if (fault === undefined) return result;
  return error(`The tool's structuredContent does not match its outputSchema: ${fault}`);
}
