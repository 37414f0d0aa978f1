import { quote } from "../problems/text.ts";
import { type CheckBudget, CheckLimit } from "./check-budget.ts";
import { createBacktrackingCost } from "./patterns/backtracking-cost.ts";
import { isExponential } from "./patterns/exponential-pattern.ts";
import { compilePattern, findPattern, type LinearPattern } from "./patterns/linear-pattern.ts";

/** A regular expression of a schema. */
export interface SchemaPattern {
  test(text: string): boolean;
}

/** Limits on the worst-case steps, per string or character, for which JavaScript's engine is used directly. */
const fewSteps = 20_000;
const fewStepsPerCharacter = 64;

const mostKept = 256;

/** Halves of surrogate pairs, which the linear engine treats differently. */
const halves = /\p{Cs}|\\u\{?0*[dD][89a-fA-F]/u;

/** `undefined` for patterns that need backtracking: lookarounds, backreferences, very large counts. */
function compileLinear(pattern: string): LinearPattern | undefined {
  if (halves.test(pattern)) return undefined;
  try {
    return compilePattern(pattern);
  } catch {
    return undefined;
  }
}

/** The worst-case steps of a backtracking search, by the length of the string. */
function createWorstCase(pattern: string): (length: number) => number {
  try {
    if (!isExponential(pattern)) return createBacktrackingCost(pattern);
  } catch (error) {
    // Too deeply nested to be analyzed.
    if (!(error instanceof RangeError)) throw error;
  }
  return (length) => 8 ** length;
}

/**
 * Compiles a valid pattern of a schema with the flag `u`, for matching in limited time. JavaScript's engine matches strings
 * whose worst case is fast. Longer strings go to an engine without backtracking; if it does not support the pattern, `test`
 * throws `CheckLimit`.
 */
export function createSchemaPattern(pattern: string, budget: CheckBudget): SchemaPattern {
  const native = new RegExp(pattern, "u");
  const costOf = createWorstCase(pattern);
  // Costs of short strings by length.
  const costs: (number | undefined)[] = [];
  const worstOf = (length: number): number => {
    if (length >= mostKept) return costOf(length);
    const cost = costs[length] ?? costOf(length);
    costs[length] = cost;
    return cost;
  };
  let linear: LinearPattern | undefined;
  let isLinearKnown = false;

  const searchLong = (text: string, worst: number): boolean => {
    if (!isLinearKnown) {
      linear = compileLinear(pattern);
      isLinearKnown = true;
    }
    if (linear !== undefined) return findPattern(linear, text, budget);
    if (budget.takeNative(worst)) return native.test(text);
    throw new CheckLimit(`a string is too long to be matched with the pattern ${quote(pattern)}`);
  };

  return {
    test(text) {
      const worst = worstOf(text.length);
      const isShort = worst <= fewSteps || worst <= fewStepsPerCharacter * text.length;
      return isShort && budget.takeNative(worst) ? native.test(text) : searchLong(text, worst);
    },
  };
}
