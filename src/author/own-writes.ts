/** How many starts in a row must change a file before it counts as written by a server. */
const tooOften = 5;
/** How long servers may write after a session was opened. Milliseconds. */
const settlingMs = 500;
/** Files that authors edit, possibly with auto-save, and that servers rarely write. */
const isCode = (path: string): boolean => /\.(?:[cm]?[jt]sx?|ya?ml|md)$/i.test(path);

/**
 * Finds files that a pack's own servers write when they start. Each such change would restart them, endlessly, so these
 * files are ignored.
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

  /** Whether any of the paths counts as a change. `isSource`: whether a file is a source of the pack. */
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
