import type { EvaluationBudget } from "../evaluation-budget.ts";
import { CelError } from "./cel-error.ts";
import { CelDuration, findMember, isEqual, nameWithArticle, type TypeName, typeOf } from "./values.ts";

export type BinaryOperator = "==" | "!=" | "in" | "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=";

const largestInt = 2n ** 63n - 1n;

/** Returns a 64-bit int, or throws `CelError`. */
export function checkInt(value: bigint): bigint {
  if (value > largestInt || value < -largestInt - 1n) throw new CelError("an int overflows");
  return value;
}

function reject(operator: string, a: unknown, b: unknown): never {
  throw new CelError(`${operator} does not accept ${nameWithArticle(a)} and ${nameWithArticle(b)}`);
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

type Calculation = "+" | "-" | "*" | "/" | "%";

function calculateInts(operator: Calculation, a: bigint, b: bigint): bigint {
  if ((operator === "/" || operator === "%") && b === 0n) throw new CelError("division of an int by zero");
  switch (operator) {
    case "+":
      return checkInt(a + b);
    case "-":
      return checkInt(a - b);
    case "*":
      return checkInt(a * b);
    case "/":
      return checkInt(a / b);
    case "%":
      return a % b;
  }
}

function calculateDoubles(operator: Calculation, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
  }
}

/** Arithmetic on durations and timestamps. */
function calculateTimes(operator: "+" | "-", a: unknown, b: unknown): unknown {
  const sign = operator === "+" ? 1 : -1;
  const addTo = (time: Date, { milliseconds }: CelDuration) => {
    const sum = new Date(time.getTime() + sign * milliseconds);
    if (Number.isNaN(sum.getTime())) throw new CelError("a timestamp overflows");
    return sum;
  };
  if (a instanceof CelDuration && b instanceof CelDuration)
    return new CelDuration(a.milliseconds + sign * b.milliseconds);
  if (a instanceof Date && b instanceof CelDuration) return addTo(a, b);
  if (operator === "+" && a instanceof CelDuration && b instanceof Date) return addTo(b, a);
  if (operator === "-" && a instanceof Date && b instanceof Date)
    return new CelDuration(a.getTime() - b.getTime());
  return reject(operator, a, b);
}

function calculate(operator: Calculation, a: unknown, b: unknown, budget: EvaluationBudget): unknown {
  if (isNumber(a) && isNumber(b)) {
    // JSON numbers are doubles, so an int with a double becomes a double.
    return typeof a === "bigint" && typeof b === "bigint"
      ? calculateInts(operator, a, b)
      : calculateDoubles(operator, Number(a), Number(b));
  }
  if (operator === "+") {
    if (typeof a === "string" && typeof b === "string") {
      budget.spendString(a.length + b.length);
      return a + b;
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      budget.spendValues(a.length + b.length);
      return [...a, ...b];
    }
    if (a instanceof Uint8Array && b instanceof Uint8Array) {
      budget.spendString(a.length + b.length);
      const bytes = new Uint8Array(a.length + b.length);
      bytes.set(a);
      bytes.set(b, a.length);
      return bytes;
    }
  }
  return operator === "+" || operator === "-" ? calculateTimes(operator, a, b) : reject(operator, a, b);
}

const ordered: ReadonlySet<TypeName> = new Set(["int", "double", "string", "bool", "timestamp", "duration"]);

/** Negative, zero or positive; `NaN` if either value is. */
function compare(operator: string, a: unknown, b: unknown, budget: EvaluationBudget): number {
  const type = typeOf(a);
  if (typeof a === "string" && typeof b === "string") budget.spendString(Math.min(a.length, b.length));
  const isMixed = isNumber(a) && isNumber(b);
  if (!ordered.has(type) || (type !== typeOf(b) && !isMixed)) return reject(operator, a, b);
  const [one, two] = [a, b].map((value) =>
    value instanceof Date ? value.getTime() : value instanceof CelDuration ? value.milliseconds : value,
  ) as [number, number];
  if (one < two) return -1;
  if (one > two) return 1;
  return isMixed && (Number.isNaN(one) || Number.isNaN(two)) ? Number.NaN : 0;
}

function isIn(a: unknown, b: unknown, budget: EvaluationBudget): boolean {
  if (Array.isArray(b)) {
    budget.spend(1);
    return b.some((element) => {
      budget.spend(1);
      return isEqual(a, element, budget);
    });
  }
  return typeOf(b) === "map" ? findMember(b, a) !== undefined : reject("in", a, b);
}

export function applyOperator(
  operator: BinaryOperator,
  a: unknown,
  b: unknown,
  budget: EvaluationBudget,
): unknown {
  switch (operator) {
    case "==":
      return isEqual(a, b, budget);
    case "!=":
      return !isEqual(a, b, budget);
    case "in":
      return isIn(a, b, budget);
    case "<":
      return compare(operator, a, b, budget) < 0;
    case "<=":
      return compare(operator, a, b, budget) <= 0;
    case ">":
      return compare(operator, a, b, budget) > 0;
    case ">=":
      return compare(operator, a, b, budget) >= 0;
    default:
      return calculate(operator, a, b, budget);
  }
}

export function negate(value: unknown): unknown {
  if (typeof value === "bigint") return checkInt(-value);
  if (typeof value === "number") return -value;
  if (value instanceof CelDuration) return new CelDuration(-value.milliseconds);
  throw new CelError(`- does not accept ${nameWithArticle(value)}`);
}
