import { abortable, whenAborted } from "../../runtime/abort-listeners.ts";
import { notifyHost } from "../../runtime/late-errors.ts";
import type { Clock } from "../../runtime/time-limit.ts";
import { rpcCode } from "../client-message.ts";
import { AnswerError } from "./answer-error.ts";
import type { JsonObject } from "./incoming-message.ts";
import type { McpClient, MessageTransport } from "./mcp-client.ts";

/** Before a lost subscription is opened again; the time doubles while subscriptions are short. Milliseconds. */
const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/** Whether a server does not offer what it was asked for. */
const isRefusal = (error: unknown) =>
  error instanceof AnswerError && (error.code === rpcCode.method || error.code === rpcCode.params);

interface ResourceWatch {
  uri: string;
  changed(): void;
}

/** What a server is asked to tell of: changes of its lists, and of resources. */
export class Listening {
  readonly #client: McpClient;
  readonly #transport: MessageTransport;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #watches = new Set<ResourceWatch>();
  /** What may have missed notifications while a subscription was lost. */
  readonly #missed = new Set<() => void>();

  constructor(client: McpClient, transport: MessageTransport, clock: Clock) {
    this.#client = client;
    this.#transport = transport;
    this.#clock = clock;
  }

  /** For the end of the connection, after which nothing is sent. */
  close(): void {
    this.#watches.clear();
    this.#closing.abort();
  }

  /**
   * Asks a modern server for notifications until `ended` aborts. Such a request is answered when the server ends. Over HTTP it
   * may end at any time, and is then repeated unless the server refuses it; `missed` is called when it is acknowledged again.
   */
  async listen(notifications: JsonObject, missed: () => void, ended?: AbortSignal): Promise<void> {
    const { signal: closing } = this.#closing;
    const signal = ended === undefined ? closing : AbortSignal.any([ended, closing]);
    let delayMs = firstDelayMs;
    while (!signal.aborted) {
      const start = this.#clock.now();
      const { answer, cancel } = this.#client.request("subscriptions/listen", { notifications });
      const unlisten = whenAborted(signal, () => cancel("No one listens any more."));
      const isRefused = await answer.then(() => false, isRefusal);
      unlisten();
      if (isRefused || signal.aborted || this.#transport.hasPerRequestStream !== true) return;
      this.#missed.add(missed);
      if (this.#clock.now() - start > longestDelayMs) delayMs = firstDelayMs;
      await this.#pause(delayMs, signal);
      delayMs = Math.min(2 * delayMs, longestDelayMs);
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    let cancel = () => {};
    const passed = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve);
    });
    await abortable(signal, () => passed, cancel).catch(() => {});
  }

  /** A subscription is acknowledged. */
  onAcknowledged(): void {
    const missed = [...this.#missed];
    this.#missed.clear();
    for (const one of missed) one();
  }

  /** `notifications/resources/updated`. The URI may be of a part of what was subscribed to. */
  onUpdated(uri: unknown): void {
    if (typeof uri !== "string") return;
    for (const one of [...this.#watches])
      if (uri === one.uri || uri.startsWith(`${one.uri.replace(/\/$/, "")}/`)) notifyHost(one.changed);
  }

  /** Calls `changed` after each change of a resource, until the returned function is called. */
  watch(uri: string, changed: () => void): () => void {
    const watch = { uri, changed };
    this.#watches.add(watch);
    const ended = new AbortController();
    if (this.#client.era === "modern") {
      const missed = () => notifyHost(changed);
      void this.listen({ resourceSubscriptions: [uri] }, missed, ended.signal);
    } else this.#send("resources/subscribe", uri);
    return () => {
      if (!this.#watches.delete(watch)) return;
      ended.abort();
      if (this.#client.era === "legacy") this.#send("resources/unsubscribe", uri);
    };
  }

  #send(method: string, uri: string): void {
    // A refusal changes nothing: the server will not tell of changes.
    this.#client.request(method, { uri }).answer.catch(() => {});
  }
}
