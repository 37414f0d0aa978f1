import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** The MCP server of one connection. Each connection needs a new one, because it holds the client's `initialize`. */
export interface ProtocolServer {
  /** Connects to the transport; resolves when it listens. */
  connect(transport: Transport): Promise<void>;
  /** Aborts the open calls and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** Creates the server of a connection. `sessionId` is what tools see as `request.session.id`. */
export type CreateProtocolServer = (connection: { sessionId: string }) => ProtocolServer;
