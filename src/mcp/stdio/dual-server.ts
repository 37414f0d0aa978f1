import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { methodOf, requestIdOf } from "../client-message.ts";
import type { ProtocolServer } from "../protocol-server.ts";
import { isOfModernClient } from "../revisions.ts";

/** The connection as one of two servers sees it. Its end is not the end of the connection. */
class SharedTransport implements Transport {
  readonly sessionId?: string;
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #connection: Transport;
  #isClosed = false;

  constructor(connection: Transport) {
    this.#connection = connection;
    if (connection.sessionId !== undefined) this.sessionId = connection.sessionId;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!this.#isClosed) await this.#connection.send(message, options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/**
 * Serves one client of either era. Its first request other than `server/discover` decides: a modern client claims a
 * revision in it. Until then, `server/discover` is answered, and the client may still be a legacy one.
 */
export class DualServer implements ProtocolServer {
  readonly #createLegacy: () => ProtocolServer;
  readonly #loadModern: () => Promise<ProtocolServer>;
  readonly #servers: ProtocolServer[] = [];
  #connection: Transport | undefined;
  #modern: Promise<SharedTransport> | undefined;
  /** The server that gets every message, once the era is decided. */
  #chosen: SharedTransport | undefined;
  readonly #waiting: JSONRPCMessage[] = [];
  #isRouting = false;
  #isClosed = false;

  constructor(createLegacy: () => ProtocolServer, loadModern: () => Promise<ProtocolServer>) {
    this.#createLegacy = createLegacy;
    this.#loadModern = loadModern;
  }

  async connect(connection: Transport): Promise<void> {
    this.#connection = connection;
    connection.onmessage = (message) => {
      if (this.#chosen !== undefined && !this.#isRouting) {
        this.#chosen.onmessage?.(message);
        return;
      }
      this.#waiting.push(message);
      // A server that cannot be created must not leave its client waiting.
      this.#routeWaiting().catch(() => connection.close());
    };
    connection.onclose = () => void this.close();
    await connection.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  /** Passes on messages in their order, also while a server is loaded. */
  async #routeWaiting(): Promise<void> {
    if (this.#isRouting) return;
    this.#isRouting = true;
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      const transport = this.#chosen ?? (await this.#route(message));
      if (!this.#isClosed) transport?.onmessage?.(message);
    }
    this.#isRouting = false;
  }

  /** Who gets a message before the era is decided, which it may decide. */
  async #route(message: JSONRPCMessage): Promise<SharedTransport | undefined> {
    // A notification decides nothing. If it cancels `server/discover`, the modern server has to know.
    if (requestIdOf(message) === undefined) return this.#modern;
    if (methodOf(message) === "server/discover") return this.#connectModern();
    this.#chosen = isOfModernClient(message)
      ? await this.#connectModern()
      : await this.#connect(this.#createLegacy());
    return this.#chosen;
  }

  #connectModern(): Promise<SharedTransport> {
    this.#modern ??= this.#loadModern().then((server) => this.#connect(server));
    return this.#modern;
  }

  async #connect(server: ProtocolServer): Promise<SharedTransport> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error("There is no connection.");
    const transport = new SharedTransport(connection);
    this.#servers.push(server);
    await server.connect(transport);
    if (this.#isClosed) await server.close();
    return transport;
  }
}
