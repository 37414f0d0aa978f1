// Substring search in linear time. The worst case of JavaScript's own search is the product of the two lengths.
import type { EvaluationBudget } from "../evaluation-budget.ts";

/** Limit on the comparisons for which JavaScript's own search is used. */
const fewComparisons = 1 << 16;
/** Parts up to this length always use it. */
const shortPart = 8;

/** For each character, the length of the longest prefix that ends there (Knuth-Morris-Pratt). */
function findBorders(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  for (let index = 1, length = 0; index < part.length; index++) {
    while (length > 0 && part.charCodeAt(index) !== part.charCodeAt(length))
      length = borders[length - 1] ?? 0;
    if (part.charCodeAt(index) === part.charCodeAt(length)) length++;
    borders[index] = length;
  }
  return borders;
}

function isQuick(text: string, part: string, budget: EvaluationBudget): boolean {
  const isShort = part.length <= shortPart;
  if (!isShort && text.length * part.length > fewComparisons) return false;
  budget.spend(1 + ((text.length * part.length) >>> 4));
  return true;
}

/** All positions, including overlapping ones, of a non-empty part from `from` on. */
function* findSlowly(text: string, part: string, from: number, budget: EvaluationBudget): Generator<number> {
  budget.spend(text.length + part.length);
  const borders = findBorders(part);
  for (let index = from, length = 0; index < text.length; index++) {
    while (length > 0 && text.charCodeAt(index) !== part.charCodeAt(length))
      length = borders[length - 1] ?? 0;
    if (text.charCodeAt(index) === part.charCodeAt(length)) length++;
    if (length < part.length) continue;
    yield index - length + 1;
    length = borders[length - 1] ?? 0;
  }
}

/** The first position of a part from `from` on; -1 if there is none. */
export function findFirst(text: string, part: string, budget: EvaluationBudget, from = 0): number {
  if (isQuick(text, part, budget)) return text.indexOf(part, from);
  for (const position of findSlowly(text, part, from, budget)) return position;
  return -1;
}

/** The last position of a part up to `from`; -1 if there is none. */
export function findLast(text: string, part: string, budget: EvaluationBudget, from = text.length): number {
  if (isQuick(text, part, budget)) return text.lastIndexOf(part, from);
  let last = -1;
  for (const position of findSlowly(text, part, 0, budget)) {
    if (position > from) break;
    last = position;
  }
  return last;
}

/** Splits a string at each separator. */
export function splitString(text: string, separator: string, budget: EvaluationBudget): string[] {
  if (isQuick(text, separator, budget)) {
    // There may be as many parts as characters.
    if (separator.length < 2) budget.spendValues(text.length);
    const parts = text.split(separator);
    budget.spendValues(parts.length);
    return parts;
  }
  const parts: string[] = [];
  let start = 0;
  for (const position of findSlowly(text, separator, 0, budget)) {
    if (position < start) continue;
    parts.push(text.slice(start, position));
    start = position + separator.length;
  }
  parts.push(text.slice(start));
  budget.spendValues(parts.length);
  return parts;
}
