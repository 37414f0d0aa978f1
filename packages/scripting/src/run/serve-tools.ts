import { Writable } from "node:stream";
import { inspect } from "node:util";
import type { CallToolResult } from "../results.ts";
import { handlerOf } from "../run-handler.ts";
import { isStandardSchema } from "../standard-schema.ts";
import { type AnyTool, inputSchemaOf } from "../tool-schema.ts";
import { callTool } from "./call-tool.ts";
import { createChecker } from "./check-value.ts";
import { loadSdk } from "./load-sdk.ts";
import type { Write } from "./reserve-stdout.ts";

/** The argument of `run`: a server and its tools. */
export interface ServerOfTools {
  /** The server's name for clients. */
  name: string;
  version: string;
  /** Results of `defineTool`, or definitions whose handlers are functions. */
  tools: readonly AnyTool[];
}

/** How long open calls may take after the client has disconnected. Milliseconds. */
const graceMs = 1000;

/** How long a user may take to answer a question. Milliseconds. */
const answerMs = 10 * 60_000;

/** Checks what types cannot check in JavaScript, at the start. Throws a `TypeError`. */
function checkServer(server: unknown): void {
  const { name, version, tools } = (server ?? {}) as Partial<Record<keyof ServerOfTools, unknown>>;
  for (const [key, value] of Object.entries({ name, version })) {
    if (typeof value !== "string" || value === "")
      throw new TypeError(`run() requires \`${key}\`, a string.`);
  }
  if (!Array.isArray(tools)) throw new TypeError("run() requires `tools`, an array.");
}

function checkTool(tool: AnyTool): void {
  handlerOf(tool);
  const name: unknown = tool.name;
  if (typeof name !== "string" || name === "")
    throw new TypeError("The name of a tool must be a non-empty string.");
  for (const key of ["inputSchema", "outputSchema"] as const) {
    const schema: unknown = tool[key];
    if (schema === undefined) continue;
    const what = `\`${key}\` of ${JSON.stringify(name)}`;
    if (isStandardSchema(schema)) {
      throw new TypeError(`${what} is a library's schema: use defineTool, which converts it to JSON Schema.`);
    }
    if ((schema as { type?: unknown } | null)?.type !== "object" && key === "inputSchema") {
      throw new TypeError(`${what} must be a JSON Schema of type object.`);
    }
  }
}

function indexTools(tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool> {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    checkTool(tool);
    if (byName.has(tool.name)) throw new Error(`Two tools have the name ${JSON.stringify(tool.name)}.`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** The entry of a tool in `tools/list`. */
const advertise = (tool: AnyTool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputSchemaOf(tool),
  outputSchema: tool.outputSchema,
  annotations: tool.annotations,
  _meta: tool._meta,
});

/** Clients of this era of MCP accept only an object as `structuredContent`. */
function withoutOddContent(result: CallToolResult): CallToolResult {
  const { structuredContent, ...rest } = result;
  const given: unknown = structuredContent;
  return typeof given === "object" && given !== null && !Array.isArray(given) ? result : rest;
}

/** Serves over stdio until the client disconnects. */
export async function serveTools(given: ServerOfTools, write: Write): Promise<void> {
  checkServer(given);
  const { name, version, tools } = given;
  const byName = indexTools(tools);
  const { Server, StdioServerTransport, types, drafts } = await loadSdk();
  const server = new Server({ name, version }, { capabilities: { tools: {}, logging: {} } });
  const check = createChecker(drafts);
  // Tools that require a session are hidden from clients without one.
  const isInSession = process.env.TRAILBLAZE_SESSION_ID !== undefined;
  const shown = [...byName.values()].filter(
    ({ _meta }) => isInSession || _meta?.["trailblaze/requiresContext"] !== true,
  );
  const underWay = new Set<Promise<unknown>>();

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: shown.map(advertise) }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const tool = byName.get(params.name);
    if (tool === undefined) {
      throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    const { progressToken } = params._meta ?? {};
    const call = callTool(tool, params, {
      signal: extra.signal,
      check,
      client: {
        capabilities: server.getClientCapabilities() ?? {},
        signal: extra.signal,
        send: (request) =>
          extra.sendRequest(request as never, types.ResultSchema, {
            timeout: answerMs,
            signal: extra.signal,
          }),
      },
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
    return withoutOddContent(await call.finally(() => underWay.delete(call)));
  });

  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, done),
  });
  const isOver = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(process.stdin, stdout));
  outliveLateErrors();
  await isOver;
  await Promise.race([Promise.allSettled(underWay), waitAtMost(graceMs)]);
  await server.close();
  // Timers and connections of a handler must not keep the process running.
  setTimeout(() => process.exit(), graceMs).unref();
}

/**
 * Reports late errors of handlers, from timers or unhandled rejections, on stderr. They would otherwise end the process
 * and every open call, which they do not under a host. Existing listeners still run.
 */
function outliveLateErrors(): void {
  if (process.listenerCount("uncaughtException") > 0) return;
  process.on("uncaughtException", (thrown) => {
    process.stderr.write(`Uncaught error after a call has ended: ${inspect(thrown)}\n`);
  });
}

const waitAtMost = (milliseconds: number) =>
  new Promise<void>((resolve) => void setTimeout(resolve, milliseconds).unref());
