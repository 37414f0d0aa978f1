/** References that one check follows in a pack. Thousands of servers may all lead through the same thousands of toolsets. */
const maximumSteps = 1_000_000;

/** What a check may still follow; beyond, it reports what it has found. */
export class StepBudget {
  #left = maximumSteps;

  /** Whether one more step may be taken. */
  take(): boolean {
    return --this.#left >= 0;
  }
}
