import {
  compilePattern,
  findPattern,
  type LinearPattern,
} from "../../json-schema/patterns/linear-pattern.ts";
import { PatternError } from "../../json-schema/patterns/parse-pattern.ts";
import type { EvaluationBudget } from "../evaluation-budget.ts";
import { CelError } from "./cel-error.ts";
import { findFirst, findLast, splitString } from "./find-text.ts";
import { checkInt } from "./operators.ts";
import { durationParts, timestampParts, toDuration, toTimestamp } from "./times.ts";
import {
  CelDuration,
  type CelMap,
  CelOptional,
  CelType,
  nameWithArticle,
  scalarToString,
  typeOf,
} from "./values.ts";

/** A function, or a method that receives its receiver as the first argument. */
export interface CelFunction {
  /** The allowed numbers of arguments, without the receiver. */
  counts: readonly number[];
  apply(args: readonly unknown[], budget: EvaluationBudget): unknown;
}

const reject = (name: string, value: unknown): never => {
  throw new CelError(`${name} does not accept ${nameWithArticle(value)}`);
};

function countCharacters(text: string, budget: EvaluationBudget): number {
  budget.spend(text.length >>> 1);
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function sizeOf([value]: readonly unknown[], budget: EvaluationBudget): bigint {
  switch (typeOf(value)) {
    case "string":
      return BigInt(countCharacters(value as string, budget));
    case "list":
    case "bytes":
      return BigInt((value as readonly unknown[]).length);
    case "map": {
      const { length } = Object.keys(value as CelMap);
      budget.spendValues(length);
      return BigInt(length);
    }
    default:
      return reject("size", value);
  }
}

function toInt(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isFinite(value)) return checkInt(BigInt(Math.trunc(value)));
  if (typeof value === "string" && /^[+-]?\d{1,19}$/.test(value))
    return checkInt(BigInt(value.replace("+", "")));
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
  if (typeof value === "string" || typeof value === "number")
    throw new CelError("the argument of int(…) is not an int");
  return reject("int", value);
}

function toDouble(value: unknown, budget: EvaluationBudget): number {
  if (typeof value === "number" || typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return reject("double", value);
  budget.spendString(value.length);
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value.slice(0, 400)))
    throw new CelError("the argument of double(…) is not a number");
  return Number(value);
}

function toText(value: unknown, budget: EvaluationBudget): string {
  if (value instanceof Uint8Array) budget.spendString(value.length);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  const type = typeOf(value);
  return ["null", "list", "map", "optional"].includes(type) ? reject("string", value) : scalarToString(value);
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ...["1", "t", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

function toBool(value: unknown): boolean {
  return booleans.get(value) ?? reject("bool", value);
}

/** Names of types, which expressions compare with `type(…)`. */
export const typeNames = [
  ...["bool", "int", "double", "string", "bytes", "list", "map", "type"],
  ...["null_type", "timestamp", "duration", "optional_type"],
];

function typeOfValue(value: unknown): CelType {
  const name = typeOf(value);
  return new CelType(name === "null" || name === "optional" ? `${name}_type` : name);
}

/** Compiles the pattern of `matches`. */
export function compileMatch(pattern: string, budget?: EvaluationBudget): LinearPattern {
  try {
    return compilePattern(pattern, budget);
  } catch (error) {
    throw error instanceof PatternError ? new CelError(error.message) : error;
  }
}

const matches = (text: unknown, pattern: unknown, budget: EvaluationBudget): boolean => {
  if (typeof text !== "string") return reject("matches", text);
  if (typeof pattern !== "string") return reject("matches", pattern);
  return findPattern(compileMatch(pattern, budget), text, budget);
};

const one = (apply: (value: unknown, budget: EvaluationBudget) => unknown): CelFunction => ({
  counts: [1],
  apply: ([value], budget) => apply(value, budget),
});

/** Charges a flat price for parsing strings of limited length. */
const reading = (read: (value: unknown) => unknown) => (value: unknown, budget: EvaluationBudget) => {
  budget.spend(40);
  return read(value);
};

export const functions: ReadonlyMap<string, CelFunction> = new Map([
  ["size", { counts: [1], apply: sizeOf }],
  ["int", one(toInt)],
  ["uint", one(toInt)],
  ["double", one(toDouble)],
  ["string", one(toText)],
  ["bool", one(toBool)],
  [
    "bytes",
    one((value, budget) => {
      if (typeof value !== "string") return reject("bytes", value);
      budget.spendString(3 * value.length);
      return new TextEncoder().encode(value);
    }),
  ],
  ["timestamp", one(reading(toTimestamp))],
  ["duration", one(reading(toDuration))],
  ["dyn", one((value) => value)],
  ["type", one(typeOfValue)],
  ["matches", { counts: [2], apply: ([text, pattern], budget) => matches(text, pattern, budget) }],
]);

type Argument = string | number | undefined;

/** A method of strings with arguments of these types; `optional` is the number of optional ones at the end. */
function ofString<Arguments extends Argument[]>(
  name: string,
  types: readonly ("string" | "number")[],
  apply: (budget: EvaluationBudget, text: string, ...args: Arguments) => unknown,
  { optional = 0 } = {},
): [string, CelFunction] {
  const read = (value: unknown, index: number): Argument => {
    if (types[index] === "string" && typeof value === "string") return value;
    if (types[index] === "number" && (typeof value === "bigint" || typeof value === "number"))
      return Number(value);
    throw new CelError(
      `argument ${index + 1} of ${name} must be a ${types[index]}, but it is ${nameWithArticle(value)}`,
    );
  };
  const counts = optional === 0 ? [types.length] : [types.length - optional, types.length];
  return [
    name,
    {
      counts,
      apply: ([text, ...args], budget) => {
        if (typeof text !== "string") return reject(name, text);
        const values = args.map(read) as Arguments;
        for (const one of [text, ...values]) if (typeof one === "string") budget.spendString(one.length);
        return apply(budget, text, ...values);
      },
    },
  ];
}

function checkRange(name: string, index: number, length: number): number {
  if (!Number.isInteger(index) || index < 0 || index > length)
    throw new CelError(`the index ${index} of ${name} is not valid for a string of length ${length}`);
  return index;
}

const find =
  (name: "indexOf" | "lastIndexOf", search: typeof findFirst) =>
  (budget: EvaluationBudget, text: string, part: string, from?: number): bigint =>
    BigInt(search(text, part, budget, from === undefined ? from : checkRange(name, from, text.length)));

/** Changes the case of each run of letters. */
function changeCase(
  budget: EvaluationBudget,
  text: string,
  letters: RegExp,
  change: (run: string) => string,
) {
  budget.spend(4 * text.length);
  return text.replace(letters, change);
}

function substring(_: EvaluationBudget, text: string, start: number, end = text.length): string {
  const from = checkRange("substring", start, text.length);
  const to = checkRange("substring", end, text.length);
  if (to < from) throw new CelError("substring ends before it starts");
  return text.slice(from, to);
}

function split(budget: EvaluationBudget, text: string, separator: string, limit = -1): string[] {
  const parts = splitString(text, separator, budget);
  if (limit < 0 || parts.length <= limit) return parts;
  return limit === 0 ? [] : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function replace(budget: EvaluationBudget, text: string, part: string, by: string, limit = -1): string {
  return join([split(budget, text, part, limit < 0 ? limit : limit + 1), by], budget);
}

function join([list, separator = ""]: readonly unknown[], budget: EvaluationBudget): string {
  if (!Array.isArray(list)) return reject("join", list);
  if (typeof separator !== "string") return reject("join", separator);
  let length = 0;
  for (const text of list) length += typeof text === "string" ? text.length : reject("join", text);
  budget.spendValues(list.length);
  budget.spendString(length + separator.length * list.length);
  return list.join(separator);
}

const ofOptional = (name: string, apply: (optional: CelOptional) => unknown): [string, CelFunction] => [
  name,
  one((value) => (value instanceof CelOptional ? apply(value) : reject(name, value))),
];

function contentOf({ content }: CelOptional): unknown {
  if (content === undefined) throw new CelError("an optional value is absent");
  return content;
}

const withoutArguments = ({ apply }: CelFunction): CelFunction => ({ counts: [0], apply });

const ofTimes = [...timestampParts.keys()].map((name): [string, CelFunction] => [
  name,
  one((value) => {
    const part =
      value instanceof CelDuration
        ? durationParts.get(name)?.(value)
        : value instanceof Date
          ? timestampParts.get(name)?.(value)
          : undefined;
    return part === undefined ? reject(name, value) : BigInt(part);
  }),
]);

/** Methods by name; the first argument is the receiver. */
export const methods: ReadonlyMap<string, CelFunction> = new Map([
  ["size", { counts: [0], apply: sizeOf }],
  ["join", { counts: [0, 1], apply: join }],
  ["matches", { counts: [1], apply: ([text, pattern], budget) => matches(text, pattern, budget) }],
  ofString("contains", ["string"], (budget, text, part: string) => findFirst(text, part, budget) >= 0),
  ofString("startsWith", ["string"], (_, text, part: string) => text.startsWith(part)),
  ofString("endsWith", ["string"], (_, text, part: string) => text.endsWith(part)),
  ofString("lowerAscii", [], (budget, text) =>
    changeCase(budget, text, /[A-Z]+/g, (letters) => letters.toLowerCase()),
  ),
  ofString("upperAscii", [], (budget, text) =>
    changeCase(budget, text, /[a-z]+/g, (letters) => letters.toUpperCase()),
  ),
  ofString("trim", [], (_, text) => text.trim()),
  ofString("indexOf", ["string", "number"], find("indexOf", findFirst), { optional: 1 }),
  ofString("lastIndexOf", ["string", "number"], find("lastIndexOf", findLast), { optional: 1 }),
  ofString("substring", ["number", "number"], substring, { optional: 1 }),
  ofString("split", ["string", "number"], split, { optional: 1 }),
  ofString("replace", ["string", "string", "number"], replace, { optional: 1 }),
  ...[
    ofOptional("hasValue", ({ content }) => content !== undefined),
    ofOptional("value", contentOf),
    ...ofTimes,
  ].map(([name, method]): [string, CelFunction] => [name, withoutArguments(method)]),
]);
