/** Thrown where checking a value takes more than it may. */
export class CheckLimit extends Error {}

/** Steps of one check on the paths that take time in proportion to the text: about a second. */
const maximumSteps = 20_000_000;
/** Steps of the engine of the language, as they are at worst: about a second, too. */
const maximumNativeSteps = 500_000_000;

/** Bounds the time of one check, without a clock. */
export class CheckBudget {
  #left = maximumSteps;
  #nativeLeft = maximumNativeSteps;

  reset(): void {
    this.#left = maximumSteps;
    this.#nativeLeft = maximumNativeSteps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new CheckLimit("is too large to be checked");
  }

  /** Takes so many steps of the language's own engine, if they are left. */
  takeNative(steps: number): boolean {
    if (!(steps <= this.#nativeLeft)) return false;
    this.#nativeLeft -= steps;
    return true;
  }
}
