/**
 * A cache that several loads of definitions share: a server may refer to thousands of toolsets that are loaded one after
 * another from the same file.
 */
export class ReadOnce {
  readonly #known = new Map<string, unknown>();

  /** The cached result of `read` for a key. Callers use each key with one type. */
  get<Read>(key: readonly string[], read: () => Read): Read {
    const joined = key.join("\0");
    if (!this.#known.has(joined)) this.#known.set(joined, read());
    return this.#known.get(joined) as Read;
  }
}
