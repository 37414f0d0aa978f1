// The only module that uses the MCP SDK's server.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  GetPromptResultSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  LoggingLevelSchema,
  McpError,
  type RequestId,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { isRecord } from "../data/parse-json.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import { readPage } from "./pages.ts";
import type { ProtocolServer } from "./protocol-server.ts";
import { findParamsFault } from "./request-params.ts";
import { describeSchemaIssues } from "./schema-issues.ts";
import type { CallAnswer, CallChannel, ServedServer, ServedTool } from "./served-server.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const general = "The server failed to answer.";

/** A JSON-RPC error with exactly this message; the SDK would prefix its code. */
function protocolError(code: number, message: string, data?: unknown): McpError {
  const error = new McpError(code, message, data);
  error.message = message;
  return error;
}

const badRequest = (message: string) => protocolError(ErrorCode.InvalidParams, message);

/** Passes on errors for the client; others go to `report`, and the client gets a general error. */
function toProtocolError(
  error: unknown,
  { signal }: Extra,
  report: (message: string) => void,
  name: string,
): McpError {
  if (error instanceof McpError) return error;
  // The client of a canceled call expects no answer.
  if (!signal.aborted) report(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  return protocolError(ErrorCode.InternalError, general);
}

function createChannel(server: Server, extra: Extra, sessionId: string): CallChannel {
  const token = extra._meta?.progressToken;
  const ignore = () => {};
  return {
    signal: extra.signal,
    depth: 0,
    log(level, data) {
      const known = LoggingLevelSchema.safeParse(level);
      const params = {
        level: known.success ? known.data : ("info" satisfies LoggingLevel),
        data: data ?? null,
      };
      // The SDK filters by the session's level. A closed connection is not an error.
      void server.sendLoggingMessage(params, extra.sessionId ?? sessionId).catch(ignore);
    },
    progress(progress, total, message) {
      if (token === undefined || extra.signal.aborted) return;
      const params = {
        progressToken: token,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      void extra.sendNotification({ method: "notifications/progress", params }).catch(ignore);
    },
  };
}

/** The result to send; a result that MCP does not allow becomes an error of the tool. */
function toResult(answer: CallAnswer) {
  if ("error" in answer) {
    const { code, message, data } = answer.error;
    throw protocolError(code, message, data);
  }
  const parsed = CallToolResultSchema.safeParse(answer.result);
  if (parsed.success) return parsed.data;
  const text = "The tool's answer is not a valid MCP result.";
  return { content: [{ type: "text" as const, text }], isError: true };
}

/** The arguments of requests as clients wrote them: the SDK's copies lack keys such as `__proto__`. */
class WrittenArguments {
  readonly #byRequest = new Map<RequestId, Record<string, unknown>>();

  /** Records the arguments of a request; returns the answer if its params are invalid. */
  receive(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (!("method" in message) || !("id" in message)) return undefined;
    const { id, method, params } = message;
    const fault = findParamsFault(method, params);
    if (fault !== undefined) {
      return { jsonrpc: "2.0", id, error: { code: ErrorCode.InvalidParams, message: fault } };
    }
    const args: unknown = params?.arguments;
    if (isRecord(args) && (method === "tools/call" || method === "prompts/get"))
      this.#byRequest.set(id, args);
    return undefined;
  }

  take(id: RequestId): Record<string, unknown> {
    const args = this.#byRequest.get(id) ?? {};
    this.#byRequest.delete(id);
    return args;
  }
}

/** Removes the task from a call: the server has none, and the SDK would reject the call. */
function withoutTask<Message extends JSONRPCMessage>(message: Message): Message {
  if (!("method" in message) || message.params?.task === undefined) return message;
  const { task: _, ...params } = message.params;
  return { ...message, params };
}

/** Replaces the SDK's JSON list of schema issues by a sentence. */
function withoutIssues(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const summary = describeSchemaIssues(message.error.message);
  if (summary === undefined) return message;
  return { ...message, error: { ...message.error, message: summary } };
}

/** Creates the MCP server of one connection. Several can share a `ServedServer`. */
export function createProtocolServer(
  served: ServedServer,
  { sessionId }: { sessionId: string },
): ProtocolServer {
  const { info, instructions, tools, prompts, report } = served;
  const server = new Server(info, {
    capabilities: {
      logging: {},
      tools: {},
      ...(prompts.length > 0 ? { prompts: {} } : {}),
    },
    ...(instructions === undefined ? {} : { instructions }),
  });
  const written = new WrittenArguments();
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
  const promptsByName = new Map(prompts.map((prompt) => [prompt.name, prompt]));

  const list = <Entry>(entries: readonly { listing: Entry }[], cursor: string | undefined) => {
    const page = readPage(entries, cursor);
    if (page === undefined) throw badRequest("Invalid cursor.");
    const { nextCursor } = page;
    return { entries: page.entries.map(({ listing }) => listing), ...(nextCursor ? { nextCursor } : {}) };
  };

  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const { entries, ...rest } = list(tools, params?.cursor);
    return { tools: entries as never, ...rest };
  });

  const callTool = async (tool: ServedTool, args: Record<string, unknown>, extra: Extra) => {
    const { trailblaze: _, ...meta } = (extra._meta ?? {}) as Record<string, unknown>;
    const session = {
      id: sessionId,
      clientInfo: server.getClientVersion() ?? null,
      capabilities: server.getClientCapabilities() ?? {},
    };
    const request = { name: tool.name, arguments: args, meta, session };
    return tool.call(request, createChannel(server, extra, sessionId));
  };
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    // Only a session may set the legacy context; from an MCP client it would be forged.
    const { [legacyContextKey]: _, ...args } = written.take(extra.requestId);
    const tool = toolsByName.get(params.name);
    if (tool === undefined) throw badRequest(`Unknown tool ${JSON.stringify(params.name)}.`);
    try {
      return toResult(await callTool(tool, args, extra));
    } catch (error) {
      throw toProtocolError(error, extra, report, params.name);
    }
  });

  if (prompts.length > 0) {
    server.setRequestHandler(ListPromptsRequestSchema, ({ params }) => {
      const { entries, ...rest } = list(prompts, params?.cursor);
      return { prompts: entries as never, ...rest };
    });
    server.setRequestHandler(GetPromptRequestSchema, async ({ params }, extra) => {
      const args = written.take(extra.requestId) as Record<string, string>;
      const prompt = promptsByName.get(params.name);
      if (prompt === undefined) throw badRequest(`Unknown prompt ${JSON.stringify(params.name)}.`);
      const missing = prompt.required.filter((name) => !Object.hasOwn(args, name));
      if (missing.length > 0) {
        const names = missing.map((name) => JSON.stringify(name)).join(", ");
        throw badRequest(`Prompt ${JSON.stringify(params.name)} is missing required arguments: ${names}.`);
      }
      try {
        const answer = await prompt.get(args, createChannel(server, extra, sessionId));
        const parsed = GetPromptResultSchema.safeParse(answer);
        if (parsed.success) return parsed.data;
      } catch (error) {
        if (error instanceof Error && !(error instanceof McpError)) {
          throw protocolError(ErrorCode.InternalError, error.message);
        }
        throw toProtocolError(error, extra, report, params.name);
      }
      throw protocolError(ErrorCode.InternalError, "The prompt's handler did not return valid MCP messages.");
    });
  }

  return {
    async connect(transport) {
      await server.connect(transport);
      const send = transport.send.bind(transport);
      transport.send = (message, options) => send(withoutIssues(message), options);
      const receive = transport.onmessage;
      transport.onmessage = (message, extra) => {
        const refusal = written.receive(message);
        if (refusal === undefined) receive?.(withoutTask(message), extra);
        else void transport.send(refusal).catch(() => {});
      };
    },
    close: () => server.close(),
  };
}
