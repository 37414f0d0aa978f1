import type {
  CreateProtocolServer,
  ModernHttpServer,
  ProtocolServer,
  ServedProtocol,
} from "../mcp/protocol-server.ts";
import { createStateSeal, readStateKey } from "../mcp/request-state.ts";
import type { ServedServer } from "../mcp/served-server.ts";

/** How the clients of both eras of MCP are served. The SDK of an era is loaded when its first client speaks. */
export interface ServedEras {
  protocol: ServedProtocol;
  legacy: CreateProtocolServer;
  modern: { http(): Promise<ModernHttpServer>; stdio(): Promise<ProtocolServer> };
}

/** What clients are served: a legacy client's connection may have state of its own. */
export interface ServedClients {
  legacy(connection: { sessionId: string }): ServedServer;
  modern: ServedServer;
}

/**
 * Serves clients of both eras. `cacheTtl`: how long modern clients may keep lists, in seconds; `token`: what
 * clients authenticate with. Throws `InvalidArguments` for a TRAILBLAZE_STATE_KEY that is too short.
 */
export function serveEras(
  served: ServedClients,
  { protocol, cacheTtl, token }: { protocol: ServedProtocol; cacheTtl: number; token: string | undefined },
): ServedEras {
  // Answers to requests with a token are for one client.
  const cacheScope = token === undefined ? ("public" as const) : ("private" as const);
  const hint = { ttlMs: cacheTtl * 1000, cacheScope };
  const seal = createStateSeal(readStateKey(), token);
  return {
    protocol,
    legacy(connection) {
      let server: ProtocolServer | undefined;
      return {
        async connect(transport) {
          const { createProtocolServer } = await import("../mcp/create-protocol-server.ts");
          server = createProtocolServer(served.legacy(connection), connection);
          await server.connect(transport);
        },
        close: async () => server?.close(),
      };
    },
    modern: {
      http: async () =>
        (await import("../mcp/create-modern-server.ts")).createModernHttpServer(served.modern, hint, seal),
      stdio: async () =>
        (await import("../mcp/create-modern-server.ts")).createModernServer(served.modern, hint, seal),
    },
  };
}
