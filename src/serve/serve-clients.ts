// The ways to the servers that `McpServers` makes: connections such as stdio, sessions over HTTP, single requests.
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  McpServer,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { markIntegers, unmarkText } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import {
  badRequest,
  cancelledIdOf,
  claimedRevision,
  isOfModernClient,
  methodOf,
  modernRevision,
  type RequestId,
  refuseRevision,
  requestIdOf,
} from "../mcp/client-message.ts";
import type { StateSeal } from "../mcp/questions.ts";
import {
  type CreateProtocolServer,
  type ModernHttpServer,
  type ProtocolServer,
  readStateKey,
  type ServedProtocol,
} from "../mcp/served-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { type Era, followChanges, McpServers, mostSubscriptions, type ServingOptions } from "./mcp-server.ts";
import type { ServedClients, ServedServer } from "./session-gateway.ts";

const ignore = () => {};

/** How the clients of both eras of MCP are served. */
export interface ServedEras {
  /** Serves the client of a connection, whatever its era. */
  connection: CreateProtocolServer;
  /** Serves a session of a legacy client over HTTP. */
  session: CreateProtocolServer;
  /** Answers the requests of modern clients over HTTP. */
  requests(): ModernHttpServer;
}

/**
 * Serves clients of both eras. `cacheTtl`: how long modern clients may keep lists, in seconds; `token`: what
 * clients authenticate with. Throws `InvalidArguments` for a TRAILBLAZE_STATE_KEY that is too short.
 */
export function serveEras(
  clients: ServedClients,
  { protocol, cacheTtl, token }: { protocol: ServedProtocol; cacheTtl: number; token: string | undefined },
): ServedEras {
  // Answers to requests with a token are for one client.
  const cacheScope = token === undefined ? ("public" as const) : ("private" as const);
  const options = {
    hint: { ttlMs: cacheTtl * 1000, cacheScope },
    seal: createStateSeal(undefined, token),
  };
  return {
    connection: ({ sessionId }) => createConnection(clients, sessionId, { ...options, protocol }),
    session: ({ sessionId }) => createSession(clients, sessionId, options),
    requests: () => createHttpServer(clients.modern, options),
  };
}

/** How long clients may take to answer. */
const ttlSeconds = 600;

/** The same text for the same JSON: clients may send keys in another order. */
const writeSorted = (value: object): string =>
  unmarkText(
    JSON.stringify(markIntegers(value), (_, inner: unknown) =>
      isRecord(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
        : inner,
    ),
  );

/** Creates a seal for a server. `token`: what clients authenticate with. */
export function createStateSeal(
  key: Buffer = readStateKey(),
  token: string | undefined = undefined,
): StateSeal {
  // What the SDK passes on to `bind` is the request of `seal` and `open`.
  const bind = (request: unknown) => writeSorted([request, token ?? null]);
  const codec = createRequestStateCodec<unknown>({ key, ttlSeconds, bind });
  return {
    seal: (request, state) => codec.mint(state, request as ServerContext),
    async open(request, sealed) {
      try {
        return await codec.verify(sealed, request as ServerContext);
      } catch (error) {
        const isOld = error instanceof Error && error.message === "expired";
        const reason = isOld
          ? "has expired. Make the request again without it"
          : "is not valid for this request";
        throw badRequest(`params.requestState ${reason}.`);
      }
    },
  };
}

/** Serves a session of a legacy client. */
function createSession(
  clients: Pick<ServedClients, "legacy">,
  sessionId: string,
  options: ServingOptions,
): ProtocolServer {
  return new McpServers(clients.legacy({ sessionId }), "legacy", options).create(sessionId);
}

/** Serves one client over a connection such as stdio. What it says first decides its era, if both are served. */
function createConnection(
  clients: ServedClients,
  sessionId: string,
  { protocol, ...options }: ServingOptions & { protocol: ServedProtocol },
): ProtocolServer {
  if (protocol === "legacy") return createSession(clients, sessionId, options);
  const { modern } = clients;
  let server: Server | undefined;
  let stopFollowing = ignore;
  /** Abort when the requests to listen are answered or canceled. */
  const listening = new Map<RequestId, AbortController>();
  const endListening = (id: RequestId) => {
    listening.get(id)?.abort();
    listening.delete(id);
  };
  const create = ({ era }: { era: Era }) => {
    stopFollowing();
    if (era === "legacy")
      return new McpServers(clients.legacy({ sessionId }), era, options).create(sessionId);
    server = new McpServers(modern, era, options).create(null);
    stopFollowing = followChanges(modern, server);
    return server;
  };
  const updated = (uri: string) => void server?.sendResourceUpdated({ uri }).catch(ignore);
  let close = async () => {};
  const end = () => {
    stopFollowing();
    [...listening.keys()].forEach(endListening);
  };
  return {
    async connect(transport) {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        if (!("method" in message) && message.id !== undefined) endListening(message.id);
        return send(message, options);
      };
      const handle = serveStdio(create, { legacy: protocol === "both" ? "serve" : "reject", transport });
      close = () => handle.close();
      const { onmessage: receive, onclose } = transport;
      transport.onclose = () => {
        end();
        onclose?.();
      };
      let era: Era | undefined = protocol === "modern" ? "modern" : undefined;
      /** Whether the SDK has taken a modern request that decides the era. */
      let isTaken = false;
      transport.onmessage = (message, extra) => {
        const [id, method, claimed] = [requestIdOf(message), methodOf(message), claimedRevision(message)];
        const isRequest = id !== undefined && method !== "server/discover";
        if (isRequest) era ??= isOfModernClient(message) ? "modern" : "legacy";
        const isModern = claimed === modernRevision && method !== "initialize";
        const { _meta: meta } = paramsOf(message);
        isTaken ||= isModern && isRequest && isRecord(meta) && isRecord(meta[CLIENT_CAPABILITIES_META_KEY]);
        const cancelled = cancelledIdOf(message);
        if (cancelled !== undefined) endListening(cancelled);
        // The SDK compares only the revision of the first request, and would take a notification or a probe without one for the
        // beginning of a legacy client.
        const isUnclaimed = claimed === undefined && (!isTaken || method === "initialize");
        const isRefused = typeof claimed === "string" ? !isModern : isUnclaimed;
        if (era !== "legacy" && isRefused) {
          const isHandshake = claimed === undefined || claimed === modernRevision;
          const requested = isHandshake ? paramsOf(message).protocolVersion : claimed;
          if (id !== undefined) void transport.send(refuseRevision(id, requested)).catch(ignore);
          return;
        }
        if (era !== "legacy" && id !== undefined && method === "subscriptions/listen") {
          endListening(id);
          const controller = new AbortController();
          listening.set(id, controller);
          receive?.(listen(modern, message, controller.signal, updated), extra);
          return;
        }
        receive?.(message, extra);
      };
    },
    async close() {
      end();
      await close();
    },
  };
}

/**
 * Follows the resources of a `subscriptions/listen`, also those that do not exist yet, until the signal aborts. Returns the
 * message with only the URIs that are followed, so that the SDK acknowledges no others.
 */
function listen<Message>(
  { subscribe }: ServedServer,
  message: Message,
  signal: AbortSignal,
  updated: (uri: string) => void,
): Message {
  const { notifications } = paramsOf(message);
  if (!isRecord(notifications) || !Array.isArray(notifications.resourceSubscriptions)) return message;
  const uris = [...new Set(notifications.resourceSubscriptions)].slice(0, mostSubscriptions);
  for (const uri of uris)
    if (typeof uri === "string") whenAborted(signal, subscribe?.(uri, updated) ?? ignore);
  const params = { ...paramsOf(message), notifications: { ...notifications, resourceSubscriptions: uris } };
  return { ...message, params };
}

/** The server of one request over HTTP. The SDK asks it which headers must repeat arguments of a call. */
class RequestServer extends McpServer {
  readonly #served: ServedServer;

  constructor(served: ServedServer, server: Server) {
    super(served.info);
    this.#served = served;
    Object.assign(this, { server });
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#served.list("tools", true).find((tool) => tool.name === name)?.inputSchema as
      | Record<string, unknown>
      | undefined;
  }
}

/** Serves modern clients over HTTP. Requests that are not of a modern revision are refused. */
function createHttpServer(served: ServedServer, options: ServingOptions): ModernHttpServer {
  const servers = new McpServers(served, "modern", options);
  const handler = createMcpHandler(() => new RequestServer(served, servers.create(null)), {
    legacy: "reject",
  });
  const updated = (uri: string) => handler.notify.resourceUpdated(uri);
  const stopFollowing = served.changing?.onChange(({ tools, prompts, resources }) => {
    if (tools) handler.notify.toolsChanged();
    if (prompts) handler.notify.promptsChanged();
    if (resources) handler.notify.resourcesChanged();
  });
  return {
    async answer(request, message, over) {
      const method = methodOf(message);
      const isListening = method === "subscriptions/listen";
      if (method === "tools/call") await served.changing?.ready();
      const parsedBody = isListening ? listen(served, message, over, updated) : message;
      return handler.fetch(request, { parsedBody });
    },
    close: () => {
      stopFollowing?.();
      return handler.close();
    },
  };
}

const paramsOf = (message: unknown): Record<string, unknown> =>
  isRecord(message) && isRecord(message.params) ? message.params : {};
