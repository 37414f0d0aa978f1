import { parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import type { Session } from "../session/session.ts";

/**
 * One end of a connection in memory, which an MCP client connects to: the `Transport` of both versions of the MCP SDK. Messages
 * are copied on their way, and arrive in their order.
 */
export class SessionTransport {
  /** Set by the client: gets the messages of the session. */
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has its own types of messages
  onmessage?: (message: any, extra?: any) => void;
  /** Set by the client: called once, when the connection ends. */
  onclose?: () => void;
  /** Set by the client. */
  onerror?: (error: Error) => void;
  #other: SessionTransport | undefined;
  #isClosed = false;
  /** Called by the client when it connects. Rejects if the session is closed. */
  readonly start: () => Promise<void>;

  constructor(start = async () => {}, other?: SessionTransport) {
    this.start = start;
    this.#other = other;
    if (other !== undefined) other.#other = this;
  }

  /** Sends a copy of a message to the session. Rejects after `close`. */
  async send(message: object): Promise<void> {
    if (this.#isClosed) throw new Error("The connection is closed.");
    const copy: unknown = parseExactly(stringifyExactly(message));
    const other = this.#other;
    // Not before the sender has finished, who may still note what it waits for.
    queueMicrotask(() => {
      if (other !== undefined && !other.#isClosed) other.onmessage?.(copy);
    });
  }

  /** Ends the connection; the session stays open. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#other?.close();
    this.onclose?.();
  }
}

/**
 * A connection to an open session in memory, for one MCP client: `await client.connect(mcpTransport(session))`. It offers
 * what `trailblaze start` without a server offers. Closing it leaves the session open; closing the session ends it.
 */
export function mcpTransport(session: Session): SessionTransport {
  const server = new SessionTransport();
  return new SessionTransport(async () => {
    const { serveInMemory } = await import("../serve/serve-clients.ts");
    await serveInMemory(session, server);
  }, server);
}
