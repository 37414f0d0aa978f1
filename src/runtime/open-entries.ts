/**
 * What is open at the moment, in the order of its begin. It is an array, because `Map` and `Set` keep their former members alive:
 * V8 links the tables that they have outgrown, and so calls that come and go would live until the next full collection.
 */
export class OpenEntries<Id, Entry extends { readonly id: Id }> {
  readonly #entries: Entry[] = [];

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  find(id: Id): Entry | undefined {
    return this.#entries.find((entry) => entry.id === id);
  }

  /** The entry that was removed; `undefined` if it was not there. */
  remove(id: Id): Entry | undefined {
    const at = this.#entries.findIndex((entry) => entry.id === id);
    return at < 0 ? undefined : this.#entries.splice(at, 1)[0];
  }

  /** A copy: entries may be removed meanwhile. */
  all(): Entry[] {
    return [...this.#entries];
  }
}
