import { isRecord } from "../data/parse-json.ts";
import { badRequest } from "../mcp/client-message.ts";
import type { ResourceRoute } from "../session/items.ts";
import type { SessionFrame } from "../session/session-frame.ts";
import type { SessionGateway } from "./session-gateway.ts";

const mostWatches = 1000;

/** How many URIs one client may be subscribed to. */
const mostSubscriptions = 1000;

/** What a URI is of: a server, or what the resource of a pack is, of which another one has other contents. */
const sourceOf = (route: ResourceRoute | undefined): unknown =>
  route?.by === "server"
    ? route.from.server
    : JSON.stringify([route?.code.item.definition, route?.owner.content]);

/** A followed URI. It takes a place as long as it is of a resource. */
interface Watch {
  /** Has an own object for each who wants to hear of it. */
  listeners: Set<{ tell: (uri: string) => void }>;
  source: unknown;
  /** Set as long as it has a place. */
  stop: (() => void) | undefined;
}

/** Watches a resource once for all who want to hear of it, until the last of them has gone. */
export class ResourceWatches {
  readonly #gateway: SessionGateway;
  readonly #watches = new Map<string, Watch>();

  constructor(gateway: SessionGateway) {
    this.#gateway = gateway;
  }

  /** Calls `tell` after each change, once however often it is added, until the returned function is called. */
  add(uri: string, tell: (uri: string) => void): () => void {
    const watch = this.#watches.get(uri) ?? { listeners: new Set(), source: undefined, stop: undefined };
    const isNew = !this.#watches.has(uri);
    this.#watches.set(uri, watch);
    const listener = { tell };
    watch.listeners.add(listener);
    if (isNew) this.#refresh(uri, watch);
    return () => {
      if (!watch.listeners.delete(listener) || watch.listeners.size > 0) return;
      this.#watches.delete(uri);
      watch.stop?.();
    };
  }

  /** Looks again for what each URI is of. */
  refresh(): void {
    for (const [uri, watch] of [...this.#watches]) this.#refresh(uri, watch);
  }

  #refresh(uri: string, watch: Watch): void {
    const frame = this.#gateway.current;
    const route = frame?.calls.findResource(frame.state(), uri);
    const before = watch.source;
    watch.source = sourceOf(route);
    if (before === watch.source) return;
    watch.stop?.();
    watch.stop = undefined;
    const changed = () => {
      for (const tell of new Set(Array.from(watch.listeners, (listener) => listener.tell))) tell(uri);
    };
    if (before !== undefined) changed();
    if (frame === undefined || route === undefined) return;
    const places = [...this.#watches.values()].filter(({ stop }) => stop !== undefined).length;
    if (places >= mostWatches) this.#gateway.report(`${uri} is not watched: ${mostWatches} resources are`);
    else watch.stop = this.#start(frame, route, uri, changed);
  }

  #start(frame: SessionFrame, route: ResourceRoute, uri: string, changed: () => void): () => void {
    if (route.by === "server") {
      const isRefused = () => {
        const now = frame.calls.findResource(frame.state(), uri);
        return now?.by !== "server" || now.from.findLeft("resource", now.id) !== undefined;
      };
      return route.from.server.watchResource(route.id, changed, isRefused);
    }
    const { owner, code } = route;
    if (code.watch === undefined) return () => {};
    // Its code may be replaced while no call uses it.
    const release = owner.content === undefined ? () => {} : frame.processes.holdCode(owner);
    const stop = new AbortController();
    const request = { state: frame.state(), scope: this.#gateway.sessionScope() };
    frame.calls.watch(route, request, stop.signal, changed).catch((error) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (!stop.signal.aborted) this.#gateway.report(`${uri} is not watched any more: ${reason}`);
    });
    return () => {
      stop.abort(new DOMException("No client is subscribed any more.", "AbortError"));
      release();
    };
  }
}

/** The resources of which a client hears, by what it asked with: a URI, or a request to listen. */
export class Subscriptions {
  readonly #watches: ResourceWatches;
  readonly #updated: (uri: string) => void;
  readonly #ends = new Map<unknown, () => void>();

  constructor({ watches }: SessionGateway, updated: (uri: string) => void) {
    this.#watches = watches;
    this.#updated = updated;
  }

  begin(uri: string): void {
    if (!this.#ends.has(uri) && this.#ends.size >= mostSubscriptions)
      throw badRequest(`A client may have at most ${mostSubscriptions} subscriptions.`);
    this.#follow(uri, [uri]);
  }

  #follow(key: unknown, uris: readonly string[]): void {
    this.end(key);
    const ends = uris.map((uri) => this.#watches.add(uri, this.#updated));
    this.#ends.set(key, () => {
      for (const end of ends) end();
    });
  }

  end(key: unknown): void {
    this.#ends.get(key)?.();
    this.#ends.delete(key);
  }

  endAll(): void {
    for (const key of [...this.#ends.keys()]) this.end(key);
  }

  /**
   * Begins what a `subscriptions/listen` asks, also for URIs of no resource yet. Returns the message with only the URIs that are
   * followed, so that the SDK acknowledges no others. The SDK limits how many requests listen.
   */
  listen<Message extends object>(key: unknown, message: Message): Message {
    const params = isRecord(message) && isRecord(message.params) ? message.params : {};
    const { notifications } = params;
    if (!isRecord(notifications) || !Array.isArray(notifications.resourceSubscriptions)) return message;
    const uris = [...new Set(notifications.resourceSubscriptions)].slice(0, mostSubscriptions);
    this.#follow(
      key,
      uris.filter((uri) => typeof uri === "string"),
    );
    return {
      ...message,
      params: { ...params, notifications: { ...notifications, resourceSubscriptions: uris } },
    };
  }
}
