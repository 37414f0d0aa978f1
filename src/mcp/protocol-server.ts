import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** The MCP server of one connection. Made anew for each, since initialisation and session ids belong to it. */
export interface ProtocolServer {
  /** Takes the transport over; resolves when it listens. */
  connect(transport: Transport): Promise<void>;
  /** Aborts the calls under way and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** Makes the server of a connection. `sessionId` is what tools see as `request.session.id`. */
export type CreateProtocolServer = (connection: { sessionId: string }) => ProtocolServer;
