/**
 * The statically known shape of a variable: `true` for any JSON, or an object with its keys. Unknown variables and keys
 * are compile-time faults.
 */
export type Shape = true | { readonly [key: string]: Shape };

/** The variables of an expression. */
export type Variables = Readonly<Record<string, Shape>>;

/** The result of an expression marked with `?` whose last member does not exist. */
export const absent: unique symbol = Symbol("absent");

/** Thrown if an expression does not compile, or cannot be evaluated: a value is missing or has the wrong type, or a limit is exceeded. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly expression: string;

  /** The message continues another one after a colon, without a period, and says where in the expression the fault is. */
  constructor(expression: string, reason: string, offset: number | undefined) {
    super(offset === undefined ? reason : `${reason} (character ${offset + 1})`);
    this.expression = expression;
  }
}

/** Thrown if an evaluation exceeds its limit; an `Error`, as otherwise cel-js would take it for a value. */
export class EvaluationLimit extends Error {}

/** A few seconds at most. */
const maximumSteps = 20_000_000;

/** Converts JSON for cel-js. Objects become maps, because it cannot read keys such as `constructor` of objects. */
function toCel(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCel);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return new Map(entries.map(([key, member]) => [key, toCel(member)]));
}

/** One evaluation of all expressions in a value. They share its variables and its limit of steps. */
export class Evaluation {
  readonly #scope: Readonly<Record<string, unknown>>;
  #variables: Map<string, unknown> | undefined;
  #left = maximumSteps;

  /** The variables in `scope` are JSON. */
  constructor(scope: Readonly<Record<string, unknown>>) {
    this.#scope = scope;
  }

  get isStopped(): boolean {
    return this.#left < 0;
  }

  get variables(): ReadonlyMap<string, unknown> {
    this.#variables ??= toCel(this.#scope) as Map<string, unknown>;
    return this.#variables;
  }

  /** Counts one step. Throws `EvaluationLimit`, from then on each time, if there are none left. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.isStopped)
      throw new EvaluationLimit(`it exceeds the limit of ${maximumSteps.toLocaleString("en-US")} steps`);
  }
}
