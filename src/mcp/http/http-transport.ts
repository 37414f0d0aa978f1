import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { markIntegers } from "../../data/exact-integers.ts";
import { cancelledIdOf, type RequestId, requestIdOf, rpcCode } from "../client-message.ts";
import { refusal } from "./answers.ts";
import { type Answer, headersIn, type RequestHead, type StreamedAnswer, toAnswer } from "./http-answers.ts";

/** The headers that the protocol may see: no token, no cookie. */
const headersOfProtocol = [
  "accept",
  "content-type",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "user-agent",
];

/** The open requests of one POST, and those that were canceled. */
interface Exchange {
  readonly open: Set<RequestId>;
  readonly cancelled: Set<RequestId>;
}

const isAnswer = (message: JSONRPCMessage) => "result" in message || "error" in message;

/**
 * Extends the SDK's transport of one session: a disconnect cancels its requests, because nothing is kept for a later
 * connection; canceling a request ends its stream, although it gets no answer; and when the session ends, open requests
 * are answered with an error.
 */
export class HttpTransport implements Transport {
  readonly sessionId: string;
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #inner: WebStandardStreamableHTTPServerTransport;
  readonly #open = new Map<RequestId, Exchange>();

  constructor(inner: WebStandardStreamableHTTPServerTransport, sessionId: string) {
    this.#inner = inner;
    this.sessionId = sessionId;
    inner.onmessage = (message, extra) => this.#receive(message, extra);
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
  }

  /** Whether `initialize` was accepted. */
  get isInitialized(): boolean {
    return this.#inner.sessionId !== undefined;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  /** Answers an admitted request. `message` is its JSON; `signal` aborts on a disconnect; `onEnd` is called once. */
  async handle(
    head: RequestHead,
    message: unknown,
    signal: AbortSignal,
    onEnd: () => void,
  ): Promise<Answer | StreamedAnswer> {
    const exchange: Exchange = { open: new Set(), cancelled: new Set() };
    let handed = false;
    try {
      const answer = await this.#answer(exchange, head, message, signal, onEnd);
      handed = "stream" in answer;
      return answer;
    } finally {
      if (!handed) {
        this.#forget(exchange);
        onEnd();
      }
    }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isAnswer(message)) {
      const { id } = message as { id?: RequestId };
      // Canceled or disconnected.
      if (id === undefined || !this.#open.has(id)) return;
      const sent = this.#inner.send(markIntegers(message));
      this.#settle(id, false);
      await sent;
      return;
    }
    const related = options?.relatedRequestId;
    if (related !== undefined && !this.#open.has(related)) {
      if ("id" in message) throw new Error("The client has disconnected.");
      return;
    }
    await this.#inner.send(markIntegers(message), related === undefined ? {} : { relatedRequestId: related });
  }

  async close(): Promise<void> {
    await this.failOpen();
    await this.#inner.close();
  }

  /** Answers the open requests with an error, so that clients stop waiting. */
  async failOpen(): Promise<void> {
    const error = { code: rpcCode.refused, message: "The session has ended." };
    for (const id of [...this.#open.keys()]) {
      await this.send({ jsonrpc: "2.0", id, error }).catch(() => {});
    }
  }

  async #answer(
    exchange: Exchange,
    head: RequestHead,
    message: unknown,
    signal: AbortSignal,
    onEnd: () => void,
  ): Promise<Answer | StreamedAnswer> {
    const id = requestIdOf(message);
    if (id !== undefined) {
      if (this.#open.has(id)) {
        return refusal(400, "A request with this id is already in progress.", { code: rpcCode.request });
      }
      this.#open.set(id, exchange);
      exchange.open.add(id);
    }
    const headers = headersIn(head, headersOfProtocol);
    // The SDK requires a URL but does not use it.
    const request = new Request("http://localhost/mcp", { method: head.method, headers });
    const response = await this.#inner.handleRequest(request, { parsedBody: message });
    const abandon = () => this.#abandon(exchange);
    const answer = await toAnswer(response, () => {
      signal.removeEventListener("abort", abandon);
      this.#forget(exchange);
      onEnd();
    });
    if (!("stream" in answer)) return answer;
    signal.addEventListener("abort", abandon, { once: true });
    if (signal.aborted) abandon();
    return answer;
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    this.onmessage?.(message, extra);
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) this.#settle(cancelled, true);
  }

  /** Marks a request as done; the last one of a POST ends its stream. */
  #settle(id: RequestId, isCancelled: boolean): void {
    const exchange = this.#open.get(id);
    if (exchange === undefined) return;
    this.#open.delete(id);
    exchange.open.delete(id);
    if (isCancelled) exchange.cancelled.add(id);
    if (exchange.open.size === 0) this.#release(exchange);
  }

  #abandon(exchange: Exchange): void {
    for (const requestId of [...exchange.open]) {
      const reason = "The client closed the connection.";
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } });
      this.#settle(requestId, true);
    }
  }

  /** The SDK keeps a stream open until all its requests are answered; canceled ones never are. */
  #release({ cancelled }: Exchange): void {
    const error = { code: rpcCode.refused, message: "Canceled." };
    for (const id of cancelled) this.#inner.closeSSEStream(id);
    // The stream is closed, so this is not sent; it makes the SDK forget the request.
    for (const id of cancelled) this.#inner.send({ jsonrpc: "2.0", id, error }).catch(() => {});
    cancelled.clear();
  }

  #forget(exchange: Exchange): void {
    for (const id of exchange.open) this.#open.delete(id);
    exchange.open.clear();
  }
}
