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

  /** Throws `EvaluationLimit`, from then on each time, if there are too few steps. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.isStopped)
      throw new EvaluationLimit(`it exceeds the limit of ${maximumSteps.toLocaleString("en-US")} steps`);
  }

  /** For making or reading a value. */
  spendValue(value: unknown): void {
    this.spend(typeof value === "string" ? 1 + (value.length >>> 2) : 1);
  }

  /** For copying or comparing a value with all its parts. */
  spendDeep(value: unknown): void {
    this.spendValue(value);
    if (!Array.isArray(value) && !(value instanceof Map)) return;
    for (const inner of value.values()) this.spendDeep(inner);
  }
}
