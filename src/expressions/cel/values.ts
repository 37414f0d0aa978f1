// What expressions work with: JSON, where numbers are CEL's double, and what CEL has beyond it: bigint for int (and
// uint), Uint8Array for bytes, Date for timestamp, and the classes below.
import { type EvaluationBudget, EvaluationLimit } from "../evaluation-budget.ts";
import { CelFault } from "./fault.ts";

export class CelDuration {
  readonly milliseconds: number;
  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }
}

export class CelType {
  readonly typeName: string;
  constructor(typeName: string) {
    this.typeName = typeName;
  }
}

/** A value that may be absent; `undefined` where it is. */
export class CelOptional {
  readonly content: unknown;
  constructor(content: unknown) {
    this.content = content;
  }
}

export type TypeName =
  | "null"
  | "bool"
  | "int"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration"
  | "type"
  | "optional"
  | "list"
  | "map";

export type CelMap = Readonly<Record<string, unknown>>;

const scalarTypes: Readonly<Record<string, TypeName>> = {
  boolean: "bool",
  bigint: "int",
  number: "double",
  string: "string",
};

export function typeOf(value: unknown): TypeName {
  if (value === null) return "null";
  if (typeof value !== "object") {
    const type = scalarTypes[typeof value];
    if (type === undefined) throw new CelFault(`a value of type ${typeof value} is no JSON`);
    return type;
  }
  if (Array.isArray(value)) return "list";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Date) return "timestamp";
  if (value instanceof CelDuration) return "duration";
  if (value instanceof CelType) return "type";
  if (value instanceof CelOptional) return "optional";
  return "map";
}

/** What the value at a key of a map or an index of a list is; `undefined` where there is none, own keys only. */
export function findMember(container: unknown, key: unknown): unknown {
  const type = typeOf(container);
  if (type === "map") {
    const name = toKey(key);
    return Object.hasOwn(container as object, name) ? (container as CelMap)[name] : undefined;
  }
  if (type === "list") {
    if (typeof key !== "bigint" && typeof key !== "number")
      throw new CelFault(`an index of a list is a number, not ${nameWithArticle(key)}`);
    return (container as readonly unknown[])[Number(key)];
  }
  throw new CelFault(`${nameWithArticle(container)} has no keys`);
}

/** The string of a key. JSON knows no other keys than strings. */
export function toKey(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "bigint" || typeof key === "number" || typeof key === "boolean") return String(key);
  throw new CelFault(`a key is a string, not ${nameWithArticle(key)}`);
}

/** `a string`, `an int`, `null`. */
export function nameWithArticle(value: unknown): string {
  const type = typeOf(value);
  if (type === "null") return type;
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** Deep equality; of different types only numbers can be equal. */
export function isEqual(a: unknown, b: unknown, budget: EvaluationBudget): boolean {
  if (typeof a === "string" && typeof b === "string" && a.length === b.length) budget.spendString(a.length);
  if (a === b) return true;
  const type = typeOf(a);
  const other = typeOf(b);
  // biome-ignore lint/suspicious/noDoubleEquals: 1n and 1 are the same number.
  if (type === "int" && other === "double") return (a as bigint) == (b as unknown as bigint);
  // biome-ignore lint/suspicious/noDoubleEquals: as above.
  if (type === "double" && other === "int") return (a as unknown as bigint) == (b as bigint);
  if (type !== other) return false;
  switch (type) {
    case "list":
    case "bytes": {
      const [one, two] = [a as readonly unknown[], b as readonly unknown[]];
      if (one.length !== two.length) return false;
      budget.spend(1 + one.length);
      return one.every((element, index) => isEqual(element, two[index], budget));
    }
    case "map": {
      const [one, two] = [a as CelMap, b as CelMap];
      const keys = Object.keys(one);
      budget.spendValues(keys.length);
      return (
        keys.length === Object.keys(two).length &&
        keys.every((key) => Object.hasOwn(two, key) && isEqual(one[key], two[key], budget))
      );
    }
    case "timestamp":
      return (a as Date).getTime() === (b as Date).getTime();
    case "duration":
      return (a as CelDuration).milliseconds === (b as CelDuration).milliseconds;
    case "type":
      return (a as CelType).typeName === (b as CelType).typeName;
    case "optional":
      return isEqual((a as CelOptional).content ?? null, (b as CelOptional).content ?? null, budget);
    default:
      return false;
  }
}

/** As `Date` and protobuf write them in JSON. */
export function scalarToString(value: unknown): string {
  switch (typeOf(value)) {
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64");
    case "timestamp":
      return (value as Date).toISOString();
    case "duration":
      return `${(value as CelDuration).milliseconds / 1000}s`;
    case "type":
      return (value as CelType).typeName;
    default:
      return String(value);
  }
}

/** Deeper values than this are not worked with. */
const maximumDepth = 500;

/** Sets a key of a map with the usual prototype; one called __proto__ is a key like any other. */
function setKey(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
  else map[key] = value;
}

/**
 * A value that an expression made, as JSON that shares nothing with it. What JSON cannot hold exactly is a fault. The
 * value may hold the same part many times, which is a copy each in JSON: hence the budget.
 */
export function toJson(value: unknown, budget: EvaluationBudget, depth = 0): unknown {
  if (depth > maximumDepth) throw new EvaluationLimit(`the value nests deeper than ${maximumDepth} levels`);
  budget.spendValues(1);
  switch (typeOf(value)) {
    case "null":
    case "bool":
      return value;
    case "string":
      budget.spendString((value as string).length);
      return value;
    case "int": {
      const number = Number(value);
      if (Number.isSafeInteger(number)) return number;
      throw new CelFault(`${value} is too large a number for JSON; string(…) keeps it`);
    }
    case "double":
      // JSON has no negative zero.
      if (Number.isFinite(value)) return (value as number) + 0;
      throw new CelFault(`${value} is no number of JSON`);
    case "list":
      return (value as readonly unknown[]).map((element) => toJson(element, budget, depth + 1));
    case "map": {
      const map: Record<string, unknown> = {};
      for (const [key, member] of Object.entries(value as CelMap)) {
        budget.spendString(key.length);
        if (member !== undefined) setKey(map, key, toJson(member, budget, depth + 1));
      }
      return map;
    }
    case "optional": {
      const { content } = value as CelOptional;
      if (content === undefined)
        throw new CelFault("an optional value is absent; orValue(…) gives it another");
      return toJson(content, budget, depth + 1);
    }
    default:
      if (value instanceof Uint8Array) budget.spendString(value.length);
      return scalarToString(value);
  }
}

/**
 * A value that is only read, and so is JSON already. It counts like one that is made: it is copied where it is used, and
 * that may be often.
 */
export function countRead(value: unknown, budget: EvaluationBudget): unknown {
  const pending = [value];
  for (let one = pending.pop(); one !== undefined || pending.length > 0; one = pending.pop()) {
    budget.spendValues(1);
    if (typeof one === "string") budget.spendString(one.length);
    if (typeof one !== "object" || one === null) continue;
    for (const [key, inner] of Object.entries(one)) {
      budget.spendString(key.length);
      pending.push(inner);
    }
  }
  return value;
}
