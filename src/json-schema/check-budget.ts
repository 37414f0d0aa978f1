/** Thrown if a check exceeds its limits. The message continues after a colon. */
export class CheckLimit extends Error {}

/** The message for a check that was stopped. */
export const describeStop = (what: string, stopped: string) =>
  `The check of ${what} was stopped: ${stopped}.`;

/** Limit on the steps of every check: a fraction of a second. */
const floorSteps = 20_000_000;
/** Additional steps for each unit of the value: a nested value, or 16 characters. */
const stepsPerUnit = 200;
/** Limit on the worst-case steps of JavaScript's regular expressions: about a second. */
const maximumNativeSteps = 500_000_000;
/** The number of steps of each kind between checks of the clock. */
const stepsBetweenLooks = 250_000;
const nativeStepsBetweenLooks = 20_000_000;

const writeCount = (count: number) => count.toLocaleString("en-US");

/** The size of a value in units: values, and characters in groups of 16. */
function measure(value: unknown): number {
  let units = 0;
  const pending = [value];
  while (pending.length > 0) {
    const one = pending.pop();
    units++;
    if (typeof one === "string") units += one.length >>> 4;
    if (typeof one !== "object" || one === null) continue;
    if (Array.isArray(one)) {
      for (const item of one) pending.push(item);
      continue;
    }
    for (const [key, member] of Object.entries(one)) {
      units += key.length >>> 4;
      pending.push(member);
    }
  }
  return units;
}

/**
 * Limits one check. A step is about the cost of one keyword for one value. Without `start`, it has the steps for a small
 * value and no timeout.
 */
export class CheckBudget {
  /** The rest of the granted steps. */
  #left = stepsBetweenLooks;
  #granted = stepsBetweenLooks;
  #limit = floorSteps;
  #value: unknown;
  #isOverdue: (() => boolean) | undefined;
  #nativeLeft = maximumNativeSteps;
  #nativeUntilLook = nativeStepsBetweenLooks;

  /** Starts a check of a value, which ends once `isOverdue`, which is called periodically, returns true. */
  start(value?: unknown, isOverdue?: () => boolean): void {
    this.#left = stepsBetweenLooks;
    this.#granted = stepsBetweenLooks;
    this.#limit = floorSteps;
    this.#value = value;
    this.#isOverdue = isOverdue;
    this.#nativeLeft = maximumNativeSteps;
    this.#nativeUntilLook = nativeStepsBetweenLooks;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) this.#grant();
  }

  /** Takes steps of JavaScript's regular expressions. Returns false if too few are left. */
  takeNative(steps: number): boolean {
    if (!(steps <= this.#nativeLeft)) return false;
    this.#nativeLeft -= steps;
    this.#nativeUntilLook -= steps;
    if (this.#nativeUntilLook < 0) {
      this.#nativeUntilLook = nativeStepsBetweenLooks;
      this.#look();
    }
    return true;
  }

  #look(): void {
    if (this.#isOverdue?.()) throw new CheckLimit("it exceeds the timeout of the call");
  }

  #grant(): void {
    this.#look();
    while (this.#left < 0) {
      if (this.#granted >= this.#limit && this.#value !== undefined) {
        // Measured only for checks that exceed the base limit.
        this.#limit = floorSteps + stepsPerUnit * measure(this.#value);
        this.#value = undefined;
      }
      const more = Math.min(stepsBetweenLooks, this.#limit - this.#granted);
      if (more <= 0) throw new CheckLimit(`it exceeds the limit of ${writeCount(this.#limit)} steps`);
      this.#granted += more;
      this.#left += more;
    }
  }
}
