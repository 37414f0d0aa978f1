/** Thrown if an evaluation exceeds its limits. The message continues after a colon. Expressions cannot catch it. */
export class EvaluationLimit {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Limit on steps, about one per part of an expression: a fraction of a second in total. */
const maximumSteps = 20_000_000;
/** The number of steps between checks of the clock. */
const stepsBetweenLooks = 250_000;

/** The cost of a loop iteration in addition to its body, because results may be kept. */
const stepsPerTurn = 4;
/** The cost of creating a value, which takes memory. */
const stepsPerValue = 8;
/** The cost of an error that is caught, and of each part of the expression that it passes. */
const stepsPerError = 60;
const stepsPerErrorLevel = 20;

/** Limits the time and memory of the expressions in one value. */
export class EvaluationBudget {
  readonly #isOverdue: (() => boolean) | undefined;
  /** The rest of the granted steps. */
  #left = stepsBetweenLooks;
  #granted = stepsBetweenLooks;

  /** Evaluation ends once `isOverdue`, which is called periodically, returns true. */
  constructor(isOverdue?: () => boolean) {
    this.#isOverdue = isOverdue;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) this.#grant();
  }

  spendTurn(): void {
    this.spend(stepsPerTurn);
  }

  /** For a caught error in a part of this height. */
  spendError(height: number): void {
    this.spend(stepsPerError + stepsPerErrorLevel * height);
  }

  /** For new lists and objects with this number of values. */
  spendValues(count: number): void {
    this.spend(stepsPerValue * (1 + count));
  }

  /** For copying or comparing strings or bytes of this total length. */
  spendString(length: number): void {
    this.spend(1 + (length >>> 2));
  }

  #grant(): void {
    if (this.#isOverdue?.()) throw new EvaluationLimit("it exceeds the timeout of the call");
    while (this.#left < 0) {
      const more = Math.min(stepsBetweenLooks, maximumSteps - this.#granted);
      if (more <= 0) {
        throw new EvaluationLimit(`it exceeds the limit of ${maximumSteps.toLocaleString("en-US")} steps`);
      }
      this.#granted += more;
      this.#left += more;
    }
  }
}
