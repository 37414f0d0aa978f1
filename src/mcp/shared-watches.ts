interface Watch {
  listeners: Set<() => void>;
  end(): void;
}

/** Watches of URIs: each is started once for all its listeners, and ended with the last of them. */
export class SharedWatches {
  readonly #start: (uri: string, changed: () => void) => () => void;
  readonly #watches = new Map<string, Watch>();

  /** `start` watches a URI until the function that it returns is called. */
  constructor(start: (uri: string, changed: () => void) => () => void) {
    this.#start = start;
  }

  /** How many URIs are watched. */
  get size(): number {
    return this.#watches.size;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  add(uri: string, listener: () => void): () => void {
    const watch = this.#watches.get(uri) ?? this.#begin(uri);
    // One listener may be added twice.
    const own = () => listener();
    watch.listeners.add(own);
    return () => {
      if (!watch.listeners.delete(own) || watch.listeners.size > 0) return;
      this.#watches.delete(uri);
      watch.end();
    };
  }

  #begin(uri: string): Watch {
    const listeners = new Set<() => void>();
    const end = this.#start(uri, () => {
      for (const listener of listeners) listener();
    });
    const watch = { listeners, end };
    this.#watches.set(uri, watch);
    return watch;
  }
}
