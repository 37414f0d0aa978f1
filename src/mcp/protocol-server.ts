import type { Transport } from "@modelcontextprotocol/server";
import type { ServedServer } from "./served-server.ts";

/** The MCP server of one connection. Each connection needs a new one, because it holds the client's `initialize`. */
export interface ProtocolServer {
  /** Connects to the transport; resolves when it listens. */
  connect(transport: Transport): Promise<void>;
  /** Aborts the open calls and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** Creates the server of a connection. `sessionId` is what tools see as `request.session.id`. */
export type CreateProtocolServer = (connection: { sessionId: string }) => ProtocolServer;

/** Answers requests of modern clients over HTTP, each on its own. */
export interface ModernHttpServer {
  /**
   * Answers a POST. `message` is its parsed body; the request has its headers, and a signal that aborts when the client
   * disconnects. Rejects after `close`.
   */
  answer(request: Request, message: unknown): Promise<Response>;
  /** Aborts the open calls, and ends subscriptions with their result. Idempotent. */
  close(): Promise<void>;
}

/** Which clients are served: those of revisions up to 2025-11-25 (legacy), of later ones (modern), or both. */
export type ServedProtocol = "both" | "modern" | "legacy";

export const servedProtocols = ["both", "modern", "legacy"] as const satisfies readonly ServedProtocol[];

/** What clients are served: a legacy client's connection may have state of its own. */
export interface ServedClients {
  legacy(connection: { sessionId: string }): ServedServer;
  modern: ServedServer;
}
