/** Thrown inside the evaluator; the engine makes an `ExpressionError` of it. `offset` is where in the expression. */
export class CelFault extends Error {
  offset: number | undefined;

  constructor(reason: string, offset?: number) {
    super(reason);
    this.offset = offset;
  }
}

/** Thrown where an expression takes more than it may. Unlike other faults it is never absorbed by `||` or `exists`. */
export class CelLimit extends CelFault {}

/** Runs work, and says where in the expression it failed if the fault does not know. */
export function locating<T>(offset: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CelFault) error.offset ??= offset;
    throw error;
  }
}

/** Steps of one evaluation: each turn of a loop, each character of a pattern, each 64 characters of text. */
const maximumSteps = 1_000_000;

/** Bounds the time of one evaluation, without a clock. */
export class Budget {
  #left = maximumSteps;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new CelLimit(`it takes more than ${maximumSteps} steps`);
  }

  /** For work on texts or bytes of so many units in all. */
  spendText(length: number): void {
    this.spend(1 + (length >>> 6));
  }
}
