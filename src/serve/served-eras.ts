import type {
  CreateProtocolServer,
  ModernHttpServer,
  ProtocolServer,
  ServedClients,
  ServedProtocol,
} from "../mcp/protocol-server.ts";
import { createStateSeal, readStateKey } from "../mcp/request-state.ts";

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
