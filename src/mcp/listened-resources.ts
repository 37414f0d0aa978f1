import { isRecord } from "../data/parse-json.ts";
import { cancelledIdOf, methodOf, type RequestId, requestIdOf } from "./client-message.ts";
import { mostSubscriptions } from "./mcp-server.ts";
import type { ServedServer } from "./served-server.ts";
import { SharedWatches } from "./shared-watches.ts";

const isListen = (message: unknown): message is { params: { notifications: Record<string, unknown> } } =>
  methodOf(message) === "subscriptions/listen" &&
  isRecord(message) &&
  isRecord(message.params) &&
  isRecord(message.params.notifications);

/** The resources that modern clients listen to. */
export class ListenedResources {
  readonly #served: ServedServer;
  readonly #watches: SharedWatches;
  readonly #ends = new Set<() => void>();

  /** `updated` is called once for a change, however many clients listen. */
  constructor(served: ServedServer, updated: (uri: string) => void) {
    this.#served = served;
    this.#watches = new SharedWatches(
      (uri, changed) =>
        served.subscribe?.(uri, () => {
          updated(uri);
          changed();
        }) ?? (() => {}),
    );
  }

  /** A `subscriptions/listen` with only the URIs that exist, so that the SDK acknowledges no others. */
  async narrow<Message>(message: Message): Promise<Message> {
    if (!isListen(message)) return message;
    await this.#served.changing?.ready();
    const { params } = message;
    const { resourceSubscriptions: written, ...types } = params.notifications;
    if (!Array.isArray(written)) return message;
    const uris = [...new Set(written)].filter(
      (uri) => typeof uri === "string" && this.#served.findResource(uri) !== undefined,
    );
    const resourceSubscriptions = uris.slice(0, mostSubscriptions);
    return { ...message, params: { ...params, notifications: { ...types, resourceSubscriptions } } };
  }

  /** Follows the URIs of a narrowed message until the returned function is called, or `close`. */
  follow(message: unknown): () => void {
    const uris = isListen(message) ? message.params.notifications.resourceSubscriptions : undefined;
    if (!Array.isArray(uris) || uris.length === 0) return () => {};
    const ends = uris.map((uri: string) => this.#watches.add(uri, () => {}));
    const end = () => {
      this.#ends.delete(end);
      for (const one of ends) one();
    };
    this.#ends.add(end);
    return end;
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}

/** The `subscriptions/listen` requests of one client's connection. */
export class ListeningClient {
  readonly #listened: ListenedResources;
  readonly #ends = new Map<RequestId, () => void>();

  constructor(listened: ListenedResources) {
    this.#listened = listened;
  }

  /** Ends a request that has been answered or canceled. */
  end(id: RequestId): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }

  /** Passes a message on, narrowed if it is such a request. */
  receive<Message>(message: Message, pass: (message: Message) => void): void {
    const cancelled = cancelledIdOf(message);
    if (cancelled !== undefined) this.end(cancelled);
    const id = requestIdOf(message);
    if (id === undefined || !isListen(message)) {
      pass(message);
      return;
    }
    let isOpen = true;
    this.end(id);
    this.#ends.set(id, () => {
      isOpen = false;
    });
    const listen = (narrowed: Message) => {
      if (!isOpen) return;
      this.#ends.set(id, this.#listened.follow(narrowed));
      pass(narrowed);
    };
    this.#listened.narrow<Message>(message).then(listen, () => listen(message));
  }

  close(): void {
    for (const id of [...this.#ends.keys()]) this.end(id);
  }
}
