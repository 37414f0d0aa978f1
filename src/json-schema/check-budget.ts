/** Thrown if a check exceeds its limits. The message continues after a colon. */
export class CheckLimit extends Error {}

/** The message for a check that was stopped. */
export const describeStop = (what: string, stopped: string) =>
  `The check of ${what} was stopped: ${stopped}.`;

/** Limit on the steps of every check: a fraction of a second. */
const floorSteps = 20_000_000;
/** Additional steps for each unit of the value: a nested value, or 16 characters. */
const stepsPerUnit = 200;
/** The number of steps between checks of the clock. */
const stepsBetweenLooks = 250_000;

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

  /** Starts a check of a value, which ends once `isOverdue`, which is called periodically, returns true. */
  start(value?: unknown, isOverdue?: () => boolean): void {
    this.#left = stepsBetweenLooks;
    this.#granted = stepsBetweenLooks;
    this.#limit = floorSteps;
    this.#value = value;
    this.#isOverdue = isOverdue;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) this.#grant();
  }

  #grant(): void {
    if (this.#isOverdue?.()) throw new CheckLimit("it exceeds the timeout of the call");
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
