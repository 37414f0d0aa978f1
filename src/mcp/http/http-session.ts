import { timerMs } from "../../runtime/abort-listeners.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ProtocolServer } from "../protocol-server.ts";
import type { Answer, RequestHead, StreamedAnswer } from "./http-answers.ts";
import type { HttpTransport } from "./http-transport.ts";

/** One client's session. It ends after `ttlMs` without open requests and streams. */
export class HttpSession {
  readonly id: string;
  readonly #server: ProtocolServer;
  readonly #transport: HttpTransport;
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #underWay = 0;
  #cancelExpiry: (() => void) | undefined;
  #ending: Promise<void> | undefined;

  constructor(parts: {
    server: ProtocolServer;
    transport: HttpTransport;
    ttlMs: number;
    clock: Clock;
    onEnd: () => void;
  }) {
    this.id = parts.transport.sessionId;
    this.#server = parts.server;
    this.#transport = parts.transport;
    this.#ttlMs = parts.ttlMs;
    this.#clock = parts.clock;
    this.#onEnd = parts.onEnd;
  }

  get isInitialized(): boolean {
    return this.#transport.isInitialized;
  }

  async connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    // The server replaced the transport's listeners. If the server closes the transport, the session ends, too.
    const close = this.#transport.onclose;
    this.#transport.onclose = () => {
      close?.();
      void this.end();
    };
  }

  async handle(head: RequestHead, message: unknown, signal: AbortSignal): Promise<Answer | StreamedAnswer> {
    this.#underWay++;
    this.#cancelExpiry?.();
    return this.#transport.handle(head, message, signal, () => {
      this.#underWay--;
      if (this.#underWay > 0 || this.#ending !== undefined) return;
      this.#cancelExpiry = this.#clock.after(timerMs(this.#ttlMs), () => void this.end());
    });
  }

  /** Closes the session's server, which aborts its calls. Never rejects. Idempotent. */
  end(): Promise<void> {
    if (this.#ending === undefined) {
      this.#cancelExpiry?.();
      // Set first: what is called next may call this again.
      const { promise, resolve } = createDeferred();
      this.#ending = promise;
      this.#onEnd();
      this.#server
        .close()
        .catch(() => {})
        .then(() => this.#transport.close())
        .catch(() => {})
        .finally(resolve);
    }
    return this.#ending;
  }
}

function createDeferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
