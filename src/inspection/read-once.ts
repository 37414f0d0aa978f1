/**
 * What several loads of definitions read of a pack, each once: a server may lead through thousands of toolsets, whose
 * definitions are loaded one after the other and all stand in one file.
 */
export class ReadOnce {
  readonly #known = new Map<string, unknown>();

  /** What `read` gave for these words before, or gives now. A key is always read as one type. */
  get<Read>(key: readonly string[], read: () => Read): Read {
    const joined = key.join("\0");
    if (!this.#known.has(joined)) this.#known.set(joined, read());
    return this.#known.get(joined) as Read;
  }
}
