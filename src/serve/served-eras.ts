import { randomUUID } from "node:crypto";
import type {
  CreateProtocolServer,
  ModernHttpServer,
  ProtocolServer,
  ServedClients,
  ServedProtocol,
} from "../mcp/protocol-server.ts";
import { createStateSeal, readStateKey } from "../mcp/request-state.ts";
import type { LlmToolsOptions } from "../session/tool-search.ts";
import type { HttpTransport, RunningServer } from "./serve-options.ts";
import type { ClientScope, SessionGateway } from "./session-gateway.ts";
import { serveOverHttp, serveOverStdio } from "./transports.ts";

/** How the clients of both eras of MCP are served. The SDK is loaded when the first client speaks. */
export interface ServedEras {
  protocol: ServedProtocol;
  /** Serves the client of a connection, whatever its era. */
  connection: CreateProtocolServer;
  /** Serves a session of a legacy client over HTTP. */
  session: CreateProtocolServer;
  /** Answers the requests of modern clients over HTTP. */
  requests(): Promise<ModernHttpServer>;
}

type Ways = typeof import("../mcp/serve-clients.ts");

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
  const hint = { ttlMs: cacheTtl * 1000, cacheScope };
  const options = { hint, seal: createStateSeal(readStateKey(), token) };
  const load = () => import("../mcp/serve-clients.ts");
  const createLater = (create: (ways: Ways) => ProtocolServer): ProtocolServer => {
    let server: ProtocolServer | undefined;
    return {
      async connect(transport) {
        server = create(await load());
        await server.connect(transport);
      },
      close: async () => server?.close(),
    };
  };
  return {
    protocol,
    connection: ({ sessionId }) =>
      createLater((ways) => ways.createConnection(clients, sessionId, { ...options, protocol })),
    session: ({ sessionId }) => createLater((ways) => ways.createSession(clients, sessionId, options)),
    requests: async () => (await load()).createHttpServer(clients.modern, options),
  };
}

/** Offers a gateway over a transport. */
export async function serveGateway(
  gateway: SessionGateway,
  label: string,
  transport: "stdio" | HttpTransport,
  {
    toolSearch,
    drain,
    ...eras
  }: {
    toolSearch?: LlmToolsOptions | undefined;
    protocol: ServedProtocol;
    cacheTtl: number;
    drain: number | undefined;
  },
): Promise<RunningServer> {
  const token = transport === "stdio" ? undefined : transport.token;
  const served = serveEras(serveClients(gateway, { transport, toolSearch }), { ...eras, token });
  return transport === "stdio" ? serveOverStdio(served, drain) : serveOverHttp(label, served, transport);
}

/** What the clients of a transport are served. Over stdio, the only client has the session itself. */
function serveClients(
  gateway: SessionGateway,
  { transport, toolSearch }: { transport: "stdio" | HttpTransport; toolSearch: LlmToolsOptions | undefined },
): ServedClients {
  // A modern client may be another one with each request, and its list is the same for all of them.
  const fixed = toolSearch && { options: toolSearch, grows: false };
  const growing = toolSearch && { options: toolSearch, grows: true };
  if (transport === "stdio") {
    const modern = gateway.serve(() => gateway.ownScope(), fixed);
    const legacy = growing === undefined ? modern : gateway.serve(() => gateway.ownScope(), growing);
    return { legacy: () => legacy, modern };
  }
  const ofLegacy = transport.stateless === true ? fixed : growing;
  return {
    legacy({ sessionId }) {
      let scope: ClientScope | undefined;
      return gateway.serve(() => {
        scope ??= gateway.createScope(sessionId);
        return scope;
      }, ofLegacy);
    },
    // Nothing outlives the call.
    modern: gateway.serve(() => gateway.createScope(randomUUID()), fixed),
  };
}
