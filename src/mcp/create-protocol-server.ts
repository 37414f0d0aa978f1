// The only module that uses version 1 of the MCP SDK's server: it serves legacy clients.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type RequestId,
  ResultSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isRecord } from "../data/parse-json.ts";
import { rpcCode } from "./client-message.ts";
import type { ProtocolServer } from "./protocol-server.ts";
import { createLegacyQuestions } from "./questions.ts";
import { findParamsFault, rankLogLevel, readLogLevel } from "./request-params.ts";
import { mostSubscriptions, ResourceAnswers, resourceCapabilities } from "./resource-answers.ts";
import { badRequest } from "./rpc-error.ts";
import { describeSchemaIssues } from "./schema-issues.ts";
import {
  argumentsIn,
  type CallContext,
  type EraRules,
  progressParams,
  ServedAnswers,
} from "./served-answers.ts";
import type { CallChannel, ServedServer } from "./served-server.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** In legacy revisions, structured content and its schema are objects. */
const legacyRules: EraRules = {
  listTool({ outputSchema, ...listing }) {
    return isRecord(outputSchema) && outputSchema.type === "object" ? { ...listing, outputSchema } : listing;
  },
  sendCallResult({ structuredContent, ...result }) {
    return isRecord(structuredContent) ? { ...result, structuredContent } : result;
  },
  cacheHint: () => ({}),
  noResource: -32002,
};

/** How long a user may take to answer a question, in milliseconds. */
const answerMs = 10 * 60_000;

function createChannel(server: Server, extra: Extra, isLogged: (level: string) => boolean): CallChannel {
  const token = extra._meta?.progressToken;
  const ignore = () => {};
  return {
    signal: extra.signal,
    depth: 0,
    questions: createLegacyQuestions({
      capabilities: server.getClientCapabilities(),
      signal: extra.signal,
      send: (request) =>
        extra.sendRequest(request as ServerRequest, ResultSchema, {
          timeout: answerMs,
          signal: extra.signal,
        }),
    }),
    log(level, data) {
      const params = { level: readLogLevel(level), data: data ?? null };
      if (!isLogged(params.level)) return;
      const notification = { method: "notifications/message" as const, params };
      // Over HTTP, the stream of the answer is the only one that each client has. After its end, an open stream of the
      // session gets the message. A closed connection is not an error.
      void extra.sendNotification(notification).catch(() => server.notification(notification).catch(ignore));
    },
    progress(progress, total, message) {
      if (token === undefined || extra.signal.aborted) return;
      const params = progressParams(token, progress, total, message);
      void extra.sendNotification({ method: "notifications/progress", params }).catch(ignore);
    },
  };
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
      return { jsonrpc: "2.0", id, error: { code: rpcCode.params, message: fault } };
    }
    if (method === "tools/call" || method === "prompts/get") this.#byRequest.set(id, argumentsIn(params));
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

/** Answers requests for resources and suggestions. The returned function ends the client's subscriptions. */
function serveResources(
  server: Server,
  served: ServedServer,
  createContext: (extra: Extra) => CallContext,
): () => void {
  const answers = new ResourceAnswers(served, legacyRules);
  const { resources, completions } = resourceCapabilities(served);
  const subscriptions = new Map<string, () => void>();
  let isClosed = false;
  const end = (uri: string) => {
    subscriptions.get(uri)?.();
    subscriptions.delete(uri);
  };
  if (resources !== undefined) {
    server.setRequestHandler(
      ListResourcesRequestSchema,
      ({ params }) => answers.list(params?.cursor) as never,
    );
    server.setRequestHandler(
      ListResourceTemplatesRequestSchema,
      ({ params }) => answers.listTemplates(params?.cursor) as never,
    );
    server.setRequestHandler(
      ReadResourceRequestSchema,
      ({ params }, extra) => answers.read(params.uri, createContext(extra)) as never,
    );
  }
  if (resources?.subscribe) {
    server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
      const updated = () => void server.sendResourceUpdated({ uri }).catch(() => {});
      const subscribe = await answers.subscribe(uri, updated);
      // The client may have gone, or subscribed to others, in the meantime.
      if (isClosed) return {};
      if (!subscriptions.has(uri) && subscriptions.size >= mostSubscriptions)
        throw badRequest(`A client may have at most ${mostSubscriptions} subscriptions.`);
      end(uri);
      subscriptions.set(uri, subscribe());
      return {};
    });
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
      end(uri);
      return {};
    });
  }
  if (completions !== undefined) {
    server.setRequestHandler(
      CompleteRequestSchema,
      ({ params }, { signal }) => answers.complete(params, signal) as never,
    );
  }
  return () => {
    isClosed = true;
    [...subscriptions.keys()].forEach(end);
  };
}

/** Creates the MCP server of one legacy client's connection. Several can share a `ServedServer`. */
export function createProtocolServer(
  served: ServedServer,
  { sessionId }: { sessionId: string },
): ProtocolServer {
  const { info, instructions, changing } = served;
  const list = changing === undefined ? {} : { listChanged: true };
  const hasPrompts = changing !== undefined || served.prompts.length > 0;
  const server = new Server(info, {
    capabilities: {
      logging: {},
      tools: list,
      ...(hasPrompts ? { prompts: list } : {}),
      ...resourceCapabilities(served),
    },
    ...(instructions === undefined ? {} : { instructions }),
  });
  let lowest = 0;
  const isLogged = (level: string) => rankLogLevel(level) >= lowest;
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    lowest = rankLogLevel(params.level);
    return {};
  });
  const written = new WrittenArguments();
  const answers = new ServedAnswers(served, legacyRules);

  server.setRequestHandler(
    ListToolsRequestSchema,
    ({ params }) => answers.listTools(params?.cursor) as never,
  );
  const createContext = (extra: Extra): CallContext => ({
    meta: extra._meta,
    session: {
      id: sessionId,
      clientInfo: server.getClientVersion() ?? null,
      capabilities: server.getClientCapabilities() ?? {},
    },
    channel: createChannel(server, extra, isLogged),
  });
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, extra) =>
      answers.callTool(params.name, written.take(extra.requestId), createContext(extra)) as never,
  );
  const endSubscriptions = serveResources(server, served, createContext);
  if (hasPrompts) {
    server.setRequestHandler(
      ListPromptsRequestSchema,
      ({ params }) => answers.listPrompts(params?.cursor) as never,
    );
    server.setRequestHandler(GetPromptRequestSchema, async ({ params }, extra) => {
      const args = written.take(extra.requestId);
      return answers.getPrompt(params.name, args, createContext(extra)) as never;
    });
  }

  let stopFollowing = () => {};
  server.oninitialized = () => {
    const ignore = () => {};
    stopFollowing();
    stopFollowing =
      changing?.onChange(({ tools, prompts, resources }) => {
        // Without a connection, or without an open stream over HTTP, no client is told.
        if (tools) void server.sendToolListChanged().catch(ignore);
        if (prompts) void server.sendPromptListChanged().catch(ignore);
        if (resources) void server.sendResourceListChanged().catch(ignore);
      }) ?? ignore;
  };
  server.onclose = () => {
    stopFollowing();
    endSubscriptions();
  };

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
