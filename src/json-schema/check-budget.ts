/** Thrown where a check takes more than it may. The message is a clause whose subject, "it", is the check. */
export class CheckLimit extends Error {}

/** Says that a check did not come to its end, and why. */
export const describeStop = (what: string, stopped: string) =>
  `The check of ${what} was stopped: ${stopped}.`;

/** Steps that every check may take, whatever its value: a fraction of a second. */
const floorSteps = 20_000_000;
/** Steps more for each unit of the value: a value inside it, or 16 characters. */
const stepsPerUnit = 200;
/** Steps of the engine of the language, as they are at worst: about a second. */
const maximumNativeSteps = 500_000_000;
/** Steps, of either kind, after which the clock is looked at. */
const stepsBetweenLooks = 250_000;
const nativeStepsBetweenLooks = 20_000_000;

const writeCount = (count: number) => count.toLocaleString("en-US");

/** How much there is to check: values, and characters by the 16. */
function measure(value: unknown): number {
  let units = 0;
  const pending = [value];
  for (let one = pending.pop(); one !== undefined || pending.length > 0; one = pending.pop()) {
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
 * Bounds the work of one check. A step is about what one keyword of a schema costs for one value. Without `start` it has
 * the steps of a small value and no time limit.
 */
export class CheckBudget {
  /** Of those granted. */
  #left = stepsBetweenLooks;
  #granted = stepsBetweenLooks;
  #limit = floorSteps;
  #value: unknown;
  #isOverdue: (() => boolean) | undefined;
  #nativeLeft = maximumNativeSteps;
  #nativeUntilLook = nativeStepsBetweenLooks;

  /** Begins a check of a value. `isOverdue` is asked from time to time, and ends the check. */
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

  /** Takes so many steps of the language's own engine, if they are left. */
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
    if (this.#isOverdue?.()) throw new CheckLimit("it takes longer than the time limit of the call");
  }

  #grant(): void {
    this.#look();
    while (this.#left < 0) {
      if (this.#granted >= this.#limit && this.#value !== undefined) {
        // Only now is it worth knowing.
        this.#limit = floorSteps + stepsPerUnit * measure(this.#value);
        this.#value = undefined;
      }
      const more = Math.min(stepsBetweenLooks, this.#limit - this.#granted);
      if (more <= 0) throw new CheckLimit(`it takes more than ${writeCount(this.#limit)} steps`);
      this.#granted += more;
      this.#left += more;
    }
  }
}
