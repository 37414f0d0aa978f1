import type { ConnectedServer } from "../mcp/client/connected-server.ts";
import { notifyHost } from "../runtime/late-reports.ts";

/** A resource whose changes somebody wants to hear of. */
export interface WantedWatch {
  uri: string;
  changed(): void;
  /** Whether the lock does not approve it, now that it is known what the server lists. */
  isRefused(): boolean;
}

interface Watch extends WantedWatch {
  end(): void;
}

const begin = (server: ConnectedServer, { uri, changed, isRefused }: WantedWatch): (() => void) =>
  isRefused() ? () => {} : server.watchResource(uri, changed);

/** The resources of a server that somebody follows, also while it does not run. */
export class ServerWatches {
  readonly #watches = new Set<Watch>();

  /** Watches now if the server runs. The returned function ends it, and returns whether it was the first call. */
  add(wanted: WantedWatch, server: ConnectedServer | undefined): () => boolean {
    const watch = { ...wanted, end: server === undefined ? () => {} : begin(server, wanted) };
    this.#watches.add(watch);
    return () => {
      const isFirst = this.#watches.delete(watch);
      if (isFirst) watch.end();
      return isFirst;
    };
  }

  /** Watches at a server that is ready. */
  join(server: ConnectedServer): void {
    for (const watch of this.#watches) watch.end = begin(server, watch);
  }

  /** Tells of changes that may have been missed. */
  tellAll(): void {
    for (const { changed } of this.#watches) notifyHost(changed);
  }
}
