/** Thrown where an evaluation takes more than it may: the end of a sentence. Nothing in an expression absorbs it. */
export class EvaluationLimit {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** About the work of one part of an expression each: a fraction of a second in all. */
const maximumSteps = 20_000_000;
/** Steps after which the clock is looked at. */
const stepsBetweenLooks = 250_000;

/** What a turn of a loop costs beside its body, since what it gives may be kept. */
const stepsPerTurn = 4;
/** What each value that is made costs, since it takes room. */
const stepsPerValue = 8;
/** What an error costs that is made and absorbed, and what each part of the expression that it is thrown through does. */
const stepsPerFault = 60;
const stepsPerFaultLevel = 20;

/** Bounds the time and room of the expressions that are evaluated for one value. */
export class EvaluationBudget {
  readonly #isOverdue: (() => boolean) | undefined;
  /** Of those granted. */
  #left = stepsBetweenLooks;
  #granted = stepsBetweenLooks;

  /** `isOverdue` is asked from time to time, and ends the evaluation. */
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

  /** For an error that is absorbed, from a part of the expression of this height. */
  spendFault(height: number): void {
    this.spend(stepsPerFault + stepsPerFaultLevel * height);
  }

  /** For lists and objects of so many values that are made. */
  spendValues(count: number): void {
    this.spend(stepsPerValue * (1 + count));
  }

  /** For strings or bytes of so many units in all that are copied or compared. */
  spendString(length: number): void {
    this.spend(1 + (length >>> 2));
  }

  #grant(): void {
    if (this.#isOverdue?.()) throw new EvaluationLimit("it takes longer than the time limit of the call");
    while (this.#left < 0) {
      const more = Math.min(stepsBetweenLooks, maximumSteps - this.#granted);
      if (more <= 0) {
        throw new EvaluationLimit(`it takes more than ${maximumSteps.toLocaleString("en-US")} steps`);
      }
      this.#granted += more;
      this.#left += more;
    }
  }
}
