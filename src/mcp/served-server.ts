// What is served, and to whom: what a start needs to know of MCP before the SDK is loaded. The handlers of requests are in
// serve/mcp-server.ts.
import { randomBytes } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/server";
import { failure } from "../problems/index.ts";

export type Listing = Readonly<Record<string, unknown>>;

/** The MCP server of one connection. Each connection needs a new one, because it holds the client's `initialize`. */
export interface ProtocolServer {
  connect(transport: Transport): Promise<void>;
  /** Aborts the open calls and closes the transport. Idempotent. */
  close(): Promise<void>;
}

/** Creates the server of a session. `sessionId` is what tools see as `request.session.id`. */
export type CreateProtocolServer = (sessionId: string) => ProtocolServer;

/** Answers requests of modern clients over HTTP, each on its own. */
export interface ModernHttpServer {
  /** `message`: the parsed body. `over` aborts when the answer is sent or the client has gone. Rejects after `close`. */
  answer(request: Request, message: unknown, over: AbortSignal): Promise<Response>;
  /** Aborts the open calls, and ends subscriptions with their result. Idempotent. */
  close(): Promise<void>;
}

/** Which clients are served: those of revisions up to 2025-11-25 (legacy), of later ones (modern), or both. */
export const servedProtocols = ["both", "modern", "legacy"] as const;

export type ServedProtocol = (typeof servedProtocols)[number];

/** How many bytes a key has at least. */
const shortestKey = 32;

/** That of TRAILBLAZE_STATE_KEY, which replicas share, or a random one. Throws `InvalidArguments` if it is too short. */
export function readStateKey({ TRAILBLAZE_STATE_KEY: key = "" }: NodeJS.ProcessEnv = process.env): Buffer {
  if (key === "") return randomBytes(shortestKey);
  const bytes = Buffer.from(key);
  if (bytes.length >= shortestKey) return bytes;
  const reason = `TRAILBLAZE_STATE_KEY has ${bytes.length} bytes, but it must have at least ${shortestKey}`;
  throw failure("InvalidArguments", { reason, hint: "Set it to a long random string, or unset it." });
}
