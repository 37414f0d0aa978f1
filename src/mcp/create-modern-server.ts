// The only module that uses version 2 of the MCP SDK's server: it serves modern clients.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type RequestId,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { markIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import type { ServerFacts } from "./client/handshake.ts";
import { methodOf, requestIdOf, rpcCode } from "./client-message.ts";
import { ListenedResources, ListeningClient } from "./listened-resources.ts";
import { findHeaderFault, findMirroredArguments, type MirroredArgument } from "./param-headers.ts";
import type { ModernHttpServer, ProtocolServer } from "./protocol-server.ts";
import { createModernQuestions } from "./questions.ts";
import { findModernFault, listMethods, readLogLevel } from "./request-params.ts";
import { createStateSeal, type StateSeal } from "./request-state.ts";
import { ResourceAnswers, resourceCapabilities } from "./resource-answers.ts";
import { claimedRevision, findRefusedRevision, modernRevision, refuseRevision } from "./revisions.ts";
import { RpcError } from "./rpc-error.ts";
import {
  argumentsIn,
  type CallContext,
  type EraRules,
  progressParams,
  ServedAnswers,
} from "./served-answers.ts";
import type { CallChannel, ServedServer, ServedTool } from "./served-server.ts";

/** How long clients may keep lists, and whether they may share them. */
export interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

const modernRules: EraRules = {
  listTool: (listing) => listing,
  sendCallResult: (result) => result,
  // What a handler answers may differ for each read and client; the SDK adds its hint to the other answers.
  cacheHint: (isStatic) => (isStatic ? {} : { ttlMs: 0, cacheScope: "private" }),
  noResource: rpcCode.params,
};

/** The error code for headers that disagree with the body. */
const headerMismatch = -32020;

const createError = (id: RequestId | null, code: number, message: string) => ({
  jsonrpc: "2.0" as const,
  id: id as RequestId,
  error: { code, message },
});

/** Nothing of a client is checked against a schema by the SDK. */
const noValidator = {
  getValidator: () => {
    throw new Error("The server has no schemas.");
  },
};

function createChannel({ mcpReq }: ServerContext): Omit<CallChannel, "questions"> {
  const { signal } = mcpReq;
  const token = mcpReq._meta?.progressToken;
  const ignore = () => {};
  return {
    signal,
    depth: 0,
    log(level, data) {
      if (signal.aborted) return;
      // The SDK sends it only if the request names a level, and filters by it.
      void mcpReq.log(readLogLevel(level), data ?? null).catch(ignore);
    },
    progress(progress, total, message) {
      if (token === undefined || signal.aborted) return;
      const params = progressParams(token, progress, total, message);
      void mcpReq.notify({ method: "notifications/progress", params }).catch(ignore);
    },
  };
}

/** `item`: what the request is about, which a client must not change when it makes the request again. */
function createContext(context: ServerContext, item: readonly unknown[], seal: StateSeal): CallContext {
  const { mcpReq } = context;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const { [CLIENT_INFO_META_KEY]: clientInfo = null, [CLIENT_CAPABILITIES_META_KEY]: capabilities = {} } =
    envelope;
  const identity = [mcpReq.method, ...item];
  const request = { ...mcpReq, capabilities, identity, requestState: mcpReq.requestState<string>() };
  return {
    meta: mcpReq._meta,
    session: { id: null, clientInfo, capabilities },
    channel: { ...createChannel(context), questions: createModernQuestions(request, seal) },
  };
}

/** Creates the servers of requests and connections, which share the tables of `served`. */
function createFactory(served: ServedServer, hint: CacheHint, seal: StateSeal) {
  const { info, instructions, changing } = served;
  const answers = new ServedAnswers(served, modernRules);
  const contextOf = (context: ServerContext, ...item: unknown[]) =>
    createContext(context, [info.name, ...item], seal);
  const list = changing === undefined ? {} : { listChanged: true };
  const hasPrompts = changing !== undefined || served.prompts.length > 0;
  const resources = new ResourceAnswers(served, modernRules);
  const ofResources = resourceCapabilities(served);
  const cached = ["server/discover", ...listMethods, "resources/read"];
  const cacheHints = Object.fromEntries(cached.map((method) => [method, hint]));
  const capabilities = { logging: {}, tools: list, ...(hasPrompts ? { prompts: list } : {}), ...ofResources };
  /** `takeArguments`: the arguments as the client wrote them; the SDK's copies lack keys such as `__proto__`. */
  return (takeArguments: (id: RequestId) => Record<string, unknown>): Server => {
    const server = new Server(info, {
      capabilities,
      cacheHints,
      jsonSchemaValidator: noValidator,
      ...(instructions === undefined ? {} : { instructions }),
    });
    server.setRequestHandler("tools/list", ({ params }) => answers.listTools(params?.cursor) as never);
    server.setRequestHandler("tools/call", ({ params: { name } }, context) => {
      const args = takeArguments(context.mcpReq.id);
      return answers.callTool(name, args, contextOf(context, name, args)) as never;
    });
    if (hasPrompts) {
      server.setRequestHandler("prompts/list", ({ params }) => answers.listPrompts(params?.cursor) as never);
      server.setRequestHandler("prompts/get", ({ params: { name } }, context) => {
        const args = takeArguments(context.mcpReq.id);
        return answers.getPrompt(name, args, contextOf(context, name, args)) as never;
      });
    }
    if (ofResources.resources !== undefined) {
      server.setRequestHandler("resources/list", ({ params }) => resources.list(params?.cursor) as never);
      server.setRequestHandler(
        "resources/templates/list",
        ({ params }) => resources.listTemplates(params?.cursor) as never,
      );
      server.setRequestHandler(
        "resources/read",
        ({ params: { uri } }, context) => resources.read(uri, contextOf(context, uri)) as never,
      );
    }
    if (ofResources.completions !== undefined) {
      server.setRequestHandler(
        "completion/complete",
        ({ params }, { mcpReq }) => resources.complete(params, mcpReq.signal) as never,
      );
    }
    return server;
  };
}

/** Answers POSTs with a new server for each, unless `findRefusal` returns an answer. */
function createHttpHandler(
  create: (message: unknown) => Server,
  findRefusal: (request: Request, message: unknown) => Response | undefined,
) {
  const messages = new WeakMap<Request, unknown>();
  const refusals = new WeakMap<Request, Response>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const message = requestInfo && messages.get(requestInfo);
      const refusal = requestInfo && findRefusal(requestInfo, message);
      if (requestInfo !== undefined && refusal !== undefined) {
        refusals.set(requestInfo, refusal);
        throw new Error("The request is refused.");
      }
      return create(message);
    },
    { legacy: "reject" },
  );
  return {
    handler,
    async answer(request: Request, message: unknown): Promise<Response> {
      messages.set(request, message);
      // The SDK checks the headers of the protocol, then creates the server, and only then looks at the params.
      const response = await handler.fetch(request, { parsedBody: message });
      return refusals.get(request) ?? response;
    },
  };
}

/** Passes a request on, and resolves with the result. Rejects with `RpcError`. */
export type ForwardRequest = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  channel: Pick<CallChannel, "signal" | "progress">,
) => Promise<object>;

/** The capabilities without notifications that belong to no request, because those cannot be passed on. */
function omitNotifications({ logging: _, ...capabilities }: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, capability]) => {
      if (!isRecord(capability)) return [name, capability];
      const { listChanged: __, subscribe: ___, ...rest } = capability;
      return [name, rest];
    }),
  );
}

/** Passes the requests of modern clients over HTTP on to another server, with its name and its capabilities. */
export function createModernHttpProxy(
  {
    serverInfo,
    capabilities,
    instructions,
  }: Pick<ServerFacts, "serverInfo" | "capabilities" | "instructions">,
  forward: ForwardRequest,
): ModernHttpServer {
  const info = serverInfo ?? { name: "", version: "" };
  const options = {
    capabilities: omitNotifications(capabilities),
    jsonSchemaValidator: noValidator,
    ...(instructions === undefined ? {} : { instructions }),
  };
  /** Requests whose methods the server does not know. */
  const unknown = new WeakSet<object>();
  const { handler, answer } = createHttpHandler(
    (message) => {
      const server = new Server(info, options);
      const params = isRecord(message) && isRecord(message.params) ? message.params : {};
      server.fallbackRequestHandler = (request, context) =>
        forward(request.method, params, createChannel(context)).then(markIntegers, (error) => {
          const isUnknown = error instanceof RpcError && error.code === rpcCode.method;
          if (isUnknown && isRecord(message)) unknown.add(message);
          throw error;
        }) as never;
      return server;
    },
    () => undefined,
  );
  return {
    headersOf: async () => [],
    async answer(request, message) {
      const response = await answer(request, message);
      if (!isRecord(message) || !unknown.has(message) || response.status !== 200) return response;
      const { headers, body } = response;
      // A stream has begun with its status.
      if (headers.get("content-type") !== "application/json") return response;
      return new Response(body, { status: 404, headers });
    },
    close: () => handler.close(),
  };
}

/** Serves modern clients over HTTP. Requests that are not of a modern revision are refused. */
export function createModernHttpServer(
  served: ServedServer,
  hint: CacheHint,
  seal = createStateSeal(),
): ModernHttpServer {
  const create = createFactory(served, hint, seal);
  let known: readonly ServedTool[] | undefined;
  let mirrored = new Map<string, MirroredArgument[]>();
  const readMirrored = () => {
    const { tools } = served;
    if (tools !== known) {
      mirrored = new Map(
        tools.map(({ name, listing }) => [name, findMirroredArguments(listing.inputSchema)]),
      );
    }
    known = tools;
    return mirrored;
  };
  /** The answer to a request whose params are invalid or disagree with its headers. */
  const findRefusal = (request: Request, message: unknown): Response | undefined => {
    const id = requestIdOf(message) ?? null;
    const fault = findModernFault(message);
    if (fault !== undefined) return Response.json(createError(id, rpcCode.params, fault));
    if (methodOf(message) !== "tools/call") return undefined;
    const { params } = message as { params: Record<string, unknown> };
    const found = findHeaderFault(
      readMirrored().get(String(params.name)) ?? [],
      params.arguments,
      request.headers,
    );
    if (found === undefined) return undefined;
    return Response.json(createError(id, headerMismatch, found), { status: 400 });
  };
  const { handler, answer } = createHttpHandler(
    (message) => create(() => argumentsIn(isRecord(message) ? message.params : undefined)),
    findRefusal,
  );
  const stopFollowing = served.changing?.onChange(({ tools, prompts, resources }) => {
    if (tools) handler.notify.toolsChanged();
    if (prompts) handler.notify.promptsChanged();
    if (resources) handler.notify.resourcesChanged();
  });
  const listened = new ListenedResources(served, (uri) => handler.notify.resourceUpdated(uri));
  return {
    async headersOf(message) {
      // Only calls have them; other requests need not wait for the first lists.
      if (methodOf(message) !== "tools/call") return [];
      await served.changing?.ready();
      return [...new Set([...readMirrored().values()].flat().map(({ header }) => header))];
    },
    async answer(request, message) {
      if (methodOf(message) !== "subscriptions/listen") return answer(request, message);
      const narrowed = await listened.narrow(message);
      const response = await answer(request, narrowed);
      // A refusal is no stream.
      if (response.headers.get("content-type") !== "text/event-stream" || request.signal.aborted)
        return response;
      const end = listened.follow(narrowed);
      request.signal.addEventListener("abort", end, { once: true });
      return response;
    },
    close: () => {
      stopFollowing?.();
      listened.close();
      return handler.close();
    },
  };
}

/** Serves one modern client over a connection such as stdio. Requests of legacy revisions are refused. */
export function createModernServer(
  served: ServedServer,
  hint: CacheHint,
  seal = createStateSeal(),
): ProtocolServer {
  const create = createFactory(served, hint, seal);
  const written = new Map<RequestId, Record<string, unknown>>();
  const takeArguments = (id: RequestId) => {
    const args = written.get(id) ?? {};
    written.delete(id);
    return args;
  };
  let close = async () => {};
  let server: Server | undefined;
  const ignore = () => {};
  const stopFollowing = served.changing?.onChange(({ tools, prompts, resources }) => {
    if (tools) void server?.sendToolListChanged().catch(ignore);
    if (prompts) void server?.sendPromptListChanged().catch(ignore);
    if (resources) void server?.sendResourceListChanged().catch(ignore);
  });
  const listening = new ListeningClient(
    new ListenedResources(served, (uri) => void server?.sendResourceUpdated({ uri }).catch(ignore)),
  );
  const createAndFollow = () => {
    server = create(takeArguments);
    server.onclose = () => listening.close();
    return server;
  };
  return {
    async connect(transport) {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        // A refused request has left its arguments here.
        if (!("method" in message) && message.id !== undefined) {
          written.delete(message.id);
          listening.end(message.id);
        }
        return send(message, options);
      };
      const handle = serveStdio(createAndFollow, {
        legacy: "reject",
        // The two versions' types differ only in fields that neither uses here.
        transport: transport as Transport,
      });
      close = () => handle.close();
      const receive = transport.onmessage;
      transport.onmessage = (message, extra) => {
        const id = requestIdOf(message);
        const refused = findRefusedRevision(message);
        if (id !== undefined && refused !== undefined) {
          void transport.send(refuseRevision(id, refused.requested)).catch(() => {});
          return;
        }
        if (id !== undefined && claimedRevision(message) === modernRevision) {
          const fault = findModernFault(message);
          if (fault !== undefined) {
            void transport.send(createError(id, rpcCode.params, fault)).catch(() => {});
            return;
          }
          const method = methodOf(message);
          if (method === "tools/call" || method === "prompts/get")
            written.set(id, argumentsIn((message as { params?: unknown }).params));
        }
        listening.receive(message, (one) => receive?.(one, extra));
      };
    },
    close: () => {
      stopFollowing?.();
      listening.close();
      return close();
    },
  };
}
