import type { EvaluationBudget } from "./evaluation-budget.ts";

/**
 * What the variables of an expression hold, as far as that is known beforehand: `true` for any JSON, else its keys.
 * Naming a variable or a key that is not there is a fault of the expression.
 */
export type Shape = true | { readonly [key: string]: Shape };

/** The variables that an expression may name. */
export type Variables = Readonly<Record<string, Shape>>;

/** Why an expression does not compile. */
export interface CompileFault {
  /** The end of a sentence, without a full stop. */
  reason: string;
  /** Where in the expression, in UTF-16 code units; `undefined` where it is the whole. */
  offset: number | undefined;
}

/** What an expression marked with `?` evaluates to where its last step leads nowhere. */
export const absent: unique symbol = Symbol("absent");

/** A compiled expression, to be evaluated as often as is wanted. */
export interface Program {
  /**
   * Evaluates the expression over variables that hold JSON. The value is JSON too, and may share parts with them; or
   * `absent`, where the expression was compiled to allow that. Throws `ExpressionError`, nothing else, and takes no more
   * than the budget has, by default one of its own.
   */
  evaluate(scope: Readonly<Record<string, unknown>>, budget?: EvaluationBudget): unknown;
  /** The same, as the string that stands for the value among others: nothing for null or absent, JSON for an object or list. */
  evaluateString(scope: Readonly<Record<string, unknown>>, budget?: EvaluationBudget): string;
}

/** The language of expressions. Whatever it is handed is hostile: the source and what the variables hold. */
export interface ExpressionEngine {
  /** Compiles once what is evaluated often. Never throws. `mayBeAbsent`: the last step may lead nowhere. */
  compile(
    expression: string,
    options: { variables: Variables; mayBeAbsent?: boolean },
  ): { program: Program } | { fault: CompileFault };
}

/** An expression that has no value: what it reads is not there, is of another type, or takes too long to work out. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  /** The end of a sentence, without a full stop. */
  readonly reason: string;
  readonly expression: string;
  readonly offset: number | undefined;

  constructor(expression: string, { reason, offset }: CompileFault) {
    super(`${reason}${describePosition(expression, offset)}`);
    this.reason = reason;
    this.expression = expression;
    this.offset = offset;
  }
}

/** Where in an expression, for the end of a message: characters from 1, and lines where there are several. */
export function describePosition(expression: string, offset: number | undefined): string {
  if (offset === undefined) return "";
  const before = expression.slice(0, offset).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return before.length > 1 || expression.includes("\n")
    ? ` (line ${before.length}, character ${column})`
    : ` (character ${column})`;
}
