/** How often in a row a file must change with the start of a session before a server is taken for its writer. */
const tooOften = 5;
/** Milliseconds after a session was opened in which its servers may still be writing. */
const settlingMs = 500;
/** What people write, with editors that save as they type, and servers hardly ever. */
const isCode = (path: string): boolean => /\.(?:[cm]?[jt]sx?|ya?ml|md)$/i.test(path);

/**
 * Finds the files that a pack's own servers write when they start: each would start them again, endlessly. Such a file
 * stops counting as a change.
 */
export class OwnWrites {
  readonly #counts = new Map<string, number>();
  readonly #ignored = new Set<string>();
  readonly #onIgnored: (path: string) => void;
  #busyUntil = 0;

  constructor(onIgnored: (path: string) => void) {
    this.#onIgnored = onIgnored;
  }

  opening(): void {
    this.#busyUntil = Number.POSITIVE_INFINITY;
  }

  opened(now: number): void {
    this.#busyUntil = now + settlingMs;
  }

  /** Whether any of the paths counts as a change. `isSource`: files that are the author's whatever they are called. */
  counts(paths: readonly string[], now: number, isSource: (path: string) => boolean): boolean {
    const isBusy = now < this.#busyUntil;
    for (const path of paths) {
      if (isCode(path) || isSource(path)) continue;
      const count = isBusy ? (this.#counts.get(path) ?? 0) + 1 : 0;
      this.#counts.set(path, count);
      if (count < tooOften || this.#ignored.has(path)) continue;
      this.#ignored.add(path);
      this.#onIgnored(path);
    }
    return paths.some((path) => !this.#ignored.has(path));
  }
}
