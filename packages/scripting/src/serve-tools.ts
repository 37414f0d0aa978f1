// What `run` does, loaded when it is called: a definition file that imports this package does not need it.
import type { Writable } from "node:stream";
import { inspect } from "node:util";
import { createLegacyQuestions, type LegacyClient } from "../../../src/mcp/questions.ts";
import { createErrorResult } from "../../../src/runtime/convert-result.ts";
import type { InputRound, RunContext, RunMemory } from "../../../src/runtime/handler-context.ts";
import { answerRounds, InvalidQuestionError } from "../../../src/runtime/input-rounds.ts";
import { readOptions } from "../../../src/runtime/tool-code.ts";
import type { CallToolResult } from "../../../src/runtime/tool-result.ts";
import { clientFrom } from "./client.ts";
import { contextFrom, isObject } from "./context.ts";
import type { LogLevel } from "./handlers.ts";
import type { ServerOfTools } from "./run.ts";
import { prepareTool, type RunnableTool, runTool } from "./run-tool.ts";

/** How long open calls may take after the client has disconnected. Milliseconds. */
const graceMs = 1000;

/** How long a user may take to answer a question. Milliseconds. */
const answerMs = 10 * 60_000;

/** What a call needs from its server. */
interface CallServices extends LegacyClient {
  log(level: LogLevel, data: unknown): Promise<void>;
  progress(step: { progress: number; total?: number; message?: string }): Promise<void>;
}

/** A call's view of the session's memory: a copy of the values sent with the call, with its own writes. */
class CallMemory implements RunMemory {
  readonly #values: ReadonlyMap<string, string>;
  readonly #written = new Map<string, string | undefined>();

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    this.#values = new Map(Object.entries(values) as [string, string][]);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  write(name: string, value: string | undefined): void {
    this.#written.set(name, value);
  }

  snapshot(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#values);
  }

  /** Adds the writes to the metadata of a successful result, under those that the handler itself set there. */
  writeBack(result: CallToolResult): CallToolResult {
    if (result.isError === true || this.#written.size === 0) return result;
    const trailblaze = isObject(result._meta?.trailblaze) ? result._meta.trailblaze : {};
    const { memoryDelta, memoryDeletions } = trailblaze;
    const written = [...this.#written];
    const writes = {
      memoryDelta: {
        ...Object.fromEntries(written.filter(([, value]) => value !== undefined)),
        ...(isObject(memoryDelta) ? memoryDelta : {}),
      },
      memoryDeletions: [
        ...written.flatMap(([name, value]) => (value === undefined ? [name] : [])),
        ...(Array.isArray(memoryDeletions) ? memoryDeletions : []),
      ],
    };
    return { ...result, _meta: { ...result._meta, trailblaze: { ...trailblaze, ...writes } } };
  }
}

/** Executes a `tools/call`: runs the handler, again after each round of questions, and returns its writes to memory. */
async function callTool(
  tool: RunnableTool,
  params: { arguments?: Record<string, unknown> | undefined; _meta?: Record<string, unknown> | undefined },
  services: CallServices,
): Promise<CallToolResult> {
  const { _trailblazeContext: _, ...args } = params.arguments ?? {};
  const { name, options } = tool.tool;
  const call = contextFrom(params.arguments, params);
  const envelope = call && { memory: call.memory, device: call.device };
  const { signal } = services;
  const { callTool } = clientFrom(call, { signal });
  const { ask } = createLegacyQuestions(services);
  const run = async (round?: InputRound): Promise<CallToolResult> => {
    const memory = call && new CallMemory(call.memory);
    const context: RunContext = {
      signal,
      options: readOptions(options),
      log: (level, data) => void services.log(level as LogLevel, data).catch(() => {}),
      progress: (progress, total, message) =>
        void services.progress({ progress, total, message }).catch(() => {}),
      callTool: (name, json) => callTool(name, JSON.parse(json)),
      ...round,
      sessionId: call?.sessionId,
      invocationId: call?.invocationId,
      device: call?.device,
      memory,
    };
    const answer = await runTool(tool, structuredClone(args), context, envelope);
    return memory?.writeBack(answer) ?? answer;
  };
  try {
    return await answerRounds(run, (asked) => ask({ ...asked, tool: name, signal }));
  } catch (error) {
    signal.throwIfAborted();
    const { message } = error as Error;
    if (error instanceof InvalidQuestionError) process.stderr.write(`${name}: ${message}\n`);
    return createErrorResult(message);
  }
}

/** The tools by name. */
function indexTools(tools: ServerOfTools["tools"]): ReadonlyMap<string, RunnableTool> {
  const byName = new Map<string, RunnableTool>();
  for (const tool of tools) {
    const prepared = prepareTool(tool);
    if (byName.has(tool.name)) throw new Error(`Two tools have the name ${JSON.stringify(tool.name)}.`);
    byName.set(tool.name, prepared);
  }
  return byName;
}

/** Reports late errors of handlers on stderr, which would otherwise end the process; under a host, they do not. */
function outliveLateErrors(): void {
  if (process.listenerCount("uncaughtException") > 0) return;
  process.on("uncaughtException", (thrown) => {
    process.stderr.write(`Uncaught error after a call has ended: ${inspect(thrown)}\n`);
  });
}

/** Serves the tools over stdin and `stdout` until the client has disconnected. */
export async function serveTools({ name, version, tools }: ServerOfTools, stdout: Writable): Promise<void> {
  const byName = indexTools(tools);
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/server/stdio.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const server = new Server({ name, version }, { capabilities: { tools: {}, logging: {} } });
  const underWay = new Set<Promise<unknown>>();

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: [...byName.values()].flatMap(({ tool, inputSchema }) => {
      const { name, title, description, outputSchema = {}, annotations, _meta } = tool;
      // Tools that require a session are hidden from clients without one.
      const isHidden = _meta?.["trailblaze/requiresContext"] === true && !process.env.TRAILBLAZE_SESSION_ID;
      const output = Object.keys(outputSchema).length === 0 ? {} : { outputSchema };
      return isHidden ? [] : [{ name, title, description, inputSchema, ...output, annotations, _meta }];
    }),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const tool = byName.get(params.name);
    if (tool === undefined)
      throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const { signal } = extra;
    const { progressToken } = params._meta ?? {};
    const call = callTool(tool, params, {
      signal,
      capabilities: server.getClientCapabilities(),
      send: (request) =>
        extra.sendRequest(request as never, types.ResultSchema, { timeout: answerMs, signal }),
      log: (level, data) => server.sendLoggingMessage({ level, logger: name, data }),
      progress: async (step) => {
        if (progressToken === undefined) return;
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, ...step },
        });
      },
    });
    underWay.add(call);
    const { structuredContent, ...result } = await call.finally(() => underWay.delete(call));
    // Clients of this era of MCP accept only an object.
    return isObject(structuredContent) ? { ...result, structuredContent } : result;
  });

  const isOver = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(process.stdin, stdout));
  outliveLateErrors();
  await isOver;
  const grace = new Promise<void>((resolve) => void setTimeout(resolve, graceMs).unref());
  await Promise.race([Promise.allSettled(underWay), grace]);
  await server.close();
  // Timers and connections of a handler must not keep the process running.
  setTimeout(() => process.exit(), graceMs).unref();
}
