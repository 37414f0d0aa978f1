import type { ResourceRoute } from "../session/items.ts";
import type { SessionFrame } from "../session/session-frame.ts";
import type { SessionGateway } from "./session-gateway.ts";

/** How many URIs are followed, of resources or of none yet: in all, and of one request. */
const mostWatches = 10_000;
const mostOfRequest = 1000;

/** What a URI is of: a server, or what the resource of a pack is, of which another one has other contents. */
const sourceOf = (route: ResourceRoute | undefined): unknown =>
  route?.by === "server"
    ? route.from.server
    : JSON.stringify([route?.code.item.definition, route?.owner.content]);

type Tell = (uri: string) => void;

/** A followed URI. */
interface Watch {
  /** Has an own object for each request to follow it. */
  listeners: Set<{ tell: Tell }>;
  source: unknown;
  stop(): void;
}

const ignore = () => {};

/** Watches each resource once for all who want to hear of it, until the last of them has gone. */
export class ResourceWatches {
  readonly #gateway: SessionGateway;
  readonly #watches = new Map<string, Watch>();

  constructor(gateway: SessionGateway) {
    this.#gateway = gateway;
  }

  /**
   * Calls `tell` after each change, once however many requests it is of, until the returned function is called. URIs may be of no
   * resource yet. Those that are not followed are taken out of `uris`, which acknowledges the others.
   */
  follow(uris: string[], tell: Tell): () => void {
    const listener = { tell };
    const followed = [...new Set(uris)].slice(0, mostOfRequest).filter((uri) => {
      const watch = this.#watches.get(uri) ?? this.#begin(uri);
      return watch?.listeners.add(listener);
    });
    uris.splice(0, uris.length, ...followed);
    return () => {
      for (const uri of followed) {
        const watch = this.#watches.get(uri);
        if (!watch?.listeners.delete(listener) || watch.listeners.size > 0) continue;
        this.#watches.delete(uri);
        watch.stop();
      }
    };
  }

  /** Looks again for what each URI is of. */
  refresh(): void {
    for (const [uri, watch] of [...this.#watches]) this.#refresh(uri, watch);
  }

  #begin(uri: string): Watch | undefined {
    if (this.#watches.size >= mostWatches) return;
    const watch = { listeners: new Set<{ tell: Tell }>(), source: undefined, stop: ignore };
    this.#watches.set(uri, watch);
    this.#refresh(uri, watch);
    return watch;
  }

  #refresh(uri: string, watch: Watch): void {
    const frame = this.#gateway.current;
    const route = frame?.calls.findResource(frame.state(), uri);
    const before = watch.source;
    watch.source = sourceOf(route);
    if (before === watch.source) return;
    watch.stop();
    const changed = () => {
      for (const tell of new Set(Array.from(watch.listeners, (listener) => listener.tell))) tell(uri);
    };
    if (before !== undefined) changed();
    watch.stop = frame && route ? this.#start(frame, route, uri, changed) : ignore;
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
    if (code.watch === undefined) return ignore;
    // Its code may be replaced while no call uses it.
    const release = owner.content === undefined ? ignore : frame.processes.holdCode(owner);
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
