import { quote } from "../problems/text.ts";
import { type CheckBudget, CheckLimit } from "./check-budget.ts";
import { createBacktrackingCost } from "./patterns/backtracking-cost.ts";
import { isExponential } from "./patterns/exponential-pattern.ts";
import { compilePattern, findPattern, type LinearPattern } from "./patterns/linear-pattern.ts";

/** A regular expression of a schema. */
export interface SchemaPattern {
  test(text: string): boolean;
}

/** Steps of the language's engine for one string, or for each character of it, that are fewer than starting another takes. */
const fewSteps = 20_000;
const fewStepsPerCharacter = 64;

const mostKept = 256;

/** Halves of surrogate pairs: the linear engine has its own mind about what they are next to. */
const halves = /\p{Cs}|\\u\{?0*[dD][89a-fA-F]/u;

/** `undefined` for what only backtracking can do: looking around, back references, very large counts. */
function compileLinear(pattern: string): LinearPattern | undefined {
  if (halves.test(pattern)) return undefined;
  try {
    return compilePattern(pattern);
  } catch {
    return undefined;
  }
}

/**
 * A pattern of a schema, with the meaning of the flag `u`, in bounded time. The language's engine looks through strings
 * for which even the worst case is short; longer ones go to an engine that does not backtrack, or, where it lacks what
 * the pattern needs, are refused by a `CheckLimit`. Throws for a pattern that can backtrack exponentially.
 */
export function createSchemaPattern(pattern: string, budget: CheckBudget): SchemaPattern {
  if (isExponential(pattern)) throw new Error("a pattern in it can backtrack exponentially");
  const native = new RegExp(pattern, "u");
  const costOf = createBacktrackingCost(pattern);
  // Of short strings, by their length.
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
    throw new CheckLimit(`a text is too long to be matched with the pattern ${quote(pattern)}`);
  };

  return {
    test(text) {
      const worst = worstOf(text.length);
      const isShort = worst <= fewSteps || worst <= fewStepsPerCharacter * text.length;
      return isShort && budget.takeNative(worst) ? native.test(text) : searchLong(text, worst);
    },
  };
}
