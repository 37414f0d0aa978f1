// The ways to the servers of clients: connections such as stdio, sessions over HTTP, single requests.
import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  createRequestStateCodec,
  McpServer,
  type ServerContext,
  type Transport,
  UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { markIntegers, unmarkText } from "../data/exact-integers.ts";
import { formatJson } from "../data/json-values.ts";
import { lazy } from "../data/memoize.ts";
import type { ListCapability } from "../mcp/client/server-lists.ts";
import {
  badRequest,
  cancelledIdOf,
  claimedRevision,
  isOfModernClient,
  listenedUris,
  methodOf,
  modernRevision,
  requestIdOf,
} from "../mcp/client-message.ts";
import type { HttpTransport } from "../mcp/http/http-options.ts";
import type { StateSeal } from "../mcp/questions.ts";
import { type ModernHttpServer, readStateKey, type ServedProtocol } from "../mcp/served-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { Session } from "../session/session.ts";
import { ClientServer, type Era, type ServingOptions } from "./mcp-server.ts";
import { type ClientScope, type GatewayClient, SessionGateway } from "./session-gateway.ts";

const ignore = () => {};

export interface ClientOptions extends Pick<HttpTransport, "token" | "stateless"> {
  /** The scope of the only client; otherwise, each has its own. */
  only?: (() => ClientScope) | undefined;
  protocol: ServedProtocol;
  /** How long modern clients may keep lists, in seconds. */
  cacheTtl: number;
}

/** Serves clients of both eras. Throws `InvalidArguments` for a TRAILBLAZE_STATE_KEY that is too short. */
export function serveEras(
  gateway: SessionGateway,
  { only, stateless = false, protocol, cacheTtl, token }: ClientOptions,
) {
  // Answers to requests with a token are for one client.
  const cacheScope = token === undefined ? ("public" as const) : ("private" as const);
  const options = {
    hint: { ttlMs: cacheTtl * 1000, cacheScope },
    seal: createStateSeal(readStateKey(), token),
  };
  // A modern client may be another one with each request, so the list is the same for all of them, and nothing outlives a call but
  // what its result links to.
  const modern = gateway.createClient(only ?? (() => gateway.createScope(randomUUID(), "modern")));
  const session = (sessionId: string) => {
    const own = lazy(() => gateway.createScope(sessionId));
    const client = gateway.createClient(only ?? own, !stateless);
    return new ClientServer(client, "legacy", options);
  };
  return {
    /** Serves the client of a connection, whatever its era. */
    connection: (sessionId: string = randomUUID()) =>
      createConnection(modern, () => session(sessionId), { ...options, protocol }),
    /** Serves a session of a legacy client over HTTP. */
    session,
    /** Answers the requests of modern clients over HTTP. */
    requests: () => createHttpServer(modern, options),
  };
}

/** How long clients may take to answer. */
const ttlSeconds = 600;

/** Creates a seal for a server. `token`: what clients authenticate with. */
export function createStateSeal(key: Buffer, token?: string): StateSeal {
  // What the SDK passes on to `bind` is the request of `seal` and `open`. Clients may send keys in another order.
  const bind = (request: unknown) => unmarkText(formatJson(markIntegers([request, token ?? null])));
  const codec = createRequestStateCodec<unknown>({ key, ttlSeconds, bind });
  return {
    seal: (request, state) => codec.mint(state, request as ServerContext),
    open: (request, sealed) =>
      codec.verify(sealed, request as ServerContext).catch(() => {
        const reason = "has expired or is not valid for this request. Make the request again without it";
        throw badRequest(`params.requestState ${reason}.`);
      }),
  };
}

/**
 * Serves one client over a connection such as stdio. If both eras are served, its first request but for `server/discover` decides
 * which is its own, and the server of the other gets no more messages.
 */
function createConnection(
  modern: GatewayClient,
  createLegacy: () => ClientServer,
  { protocol, ...options }: ServingOptions & { protocol: ServedProtocol },
) {
  /** Of a modern client. */
  let server: ClientServer | undefined;
  const servers: { close(): Promise<void> }[] = [];
  return {
    async connect(connection: Transport) {
      const ends = new Map<Era, Transport>();
      /** The transport of one era's server, which is connected with the first message for it. */
      const endOf = (era: Era): Transport => {
        const known = ends.get(era);
        if (known !== undefined) return known;
        const end: Transport = {
          start: async () => {},
          close: async () => {},
          send: (message, more) => {
            if (!("method" in message)) server?.unwatch(message.id);
            return connection.send(message, more);
          },
        };
        ends.set(era, end);
        if (era === "modern") {
          const pinned = new ClientServer(modern, "modern", options);
          pinned.follow();
          server = pinned;
          servers.push(serveStdio(() => pinned, { legacy: "reject", transport: end }));
        } else {
          const legacy = createLegacy();
          servers.push(legacy);
          void legacy.connect(end);
        }
        return end;
      };
      let era: Era | undefined = protocol === "both" ? undefined : protocol;
      connection.onmessage = (message, extra) => {
        const id = requestIdOf(message);
        const method = methodOf(message);
        if (id !== undefined && method !== "server/discover")
          era ??= isOfModernClient(message) ? "modern" : "legacy";
        if (era === "legacy") return endOf(era).onmessage?.(message, extra);
        const claimed = claimedRevision(message);
        // The SDK compares only the revision of the first request, and of those to listen.
        const isRefused = claimed !== modernRevision || method === "initialize";
        if (id !== undefined && typeof claimed === "string" && isRefused) {
          const { params } = message as { params: { protocolVersion?: unknown } };
          const requested = claimed === modernRevision ? String(params.protocolVersion) : claimed;
          const refusal = new UnsupportedProtocolVersionError({ supported: [modernRevision], requested });
          const { code, message: text, data } = refusal;
          void connection.send({ jsonrpc: "2.0", id, error: { code, message: text, data } }).catch(ignore);
          return;
        }
        const end = endOf("modern");
        const cancelled = cancelledIdOf(message);
        if (cancelled !== undefined) server?.unwatch(cancelled);
        if (id !== undefined && method === "subscriptions/listen") server?.watch(id, listenedUris(message));
        end.onmessage?.(message, extra);
      };
      connection.onclose = () => {
        for (const end of ends.values()) end.onclose?.();
      };
      await connection.start();
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Serves modern clients over HTTP. Requests that are not of a modern revision are refused. */
function createHttpServer(client: GatewayClient, options: ServingOptions): ModernHttpServer {
  const { gateway } = client;
  /** The SDK asks it which headers must repeat arguments of a call. */
  const toolInputSchemaJson = (name: string) => {
    const tool = gateway.list(client, "tools", true).find((one) => one.name === name);
    return tool?.inputSchema as Record<string, unknown> | undefined;
  };
  const create = () => {
    const server = new ClientServer(client, "modern", options);
    return Object.assign(new McpServer({ name: "", version: "" }), { server, toolInputSchemaJson });
  };
  const handler = createMcpHandler(create, { legacy: "reject" });
  const tellUpdated = (uri: string) => handler.notify.resourceUpdated(uri);
  const tell = (list: ListCapability) => handler.notify[`${list}Changed`]();
  gateway.listeners.set(tell, client);
  return {
    async answer(request, message, over) {
      const method = methodOf(message);
      if (method === "tools/call") await gateway.opened;
      if (method === "subscriptions/listen")
        whenAborted(over, gateway.watches.follow(listenedUris(message), tellUpdated));
      return handler.fetch(request, { parsedBody: message });
    },
    close: () => {
      gateway.listeners.delete(tell);
      return handler.close();
    },
  };
}

/** Serves until one of the two is closed. */
export async function serveInMemory(session: Session, connection: object): Promise<void> {
  const { resources, states } = Session.frameOf(session);
  const { closing } = resources;
  closing.throwIfAborted();
  // The host of the session gets its problems itself.
  const gateway = new SessionGateway(Promise.resolve(session), () => {});
  await gateway.opened;
  const scope = gateway.createScope(randomUUID());
  const eras = serveEras(gateway, { only: () => scope, protocol: "both", cacheTtl: 0 });
  const transport = connection as Transport;
  await eras.connection().connect(transport);
  const release = whenAborted(closing, () => void transport.close());
  const { onclose } = transport;
  transport.onclose = () => {
    states.served.delete(gateway.announce);
    release();
    onclose?.();
  };
}
