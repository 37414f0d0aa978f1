// The values of expressions: JSON, whose numbers are CEL's double, bigint for int and uint, Uint8Array for bytes, Date for
// timestamp, and the classes below.
import { type EvaluationBudget, EvaluationLimit } from "../evaluation-budget.ts";
import { CelError } from "./cel-error.ts";

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

/** An optional value; `content` is `undefined` if it is absent. */
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
    if (type === undefined) throw new CelError(`a value of type ${typeof value} is not JSON`);
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

/** The value at an own key of a map or an index of a list; `undefined` if it does not exist. */
export function findMember(container: unknown, key: unknown): unknown {
  const type = typeOf(container);
  if (type === "map") {
    const name = toKey(key);
    return Object.hasOwn(container as object, name) ? (container as CelMap)[name] : undefined;
  }
  if (type === "list") {
    if (typeof key !== "bigint" && typeof key !== "number")
      throw new CelError(`a list index must be a number, but it is ${nameWithArticle(key)}`);
    return (container as readonly unknown[])[Number(key)];
  }
  throw new CelError(`${nameWithArticle(container)} has no keys`);
}

/** Converts a key to a string, the only type of keys in JSON. */
export function toKey(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "bigint" || typeof key === "number" || typeof key === "boolean") return String(key);
  throw new CelError(`a key must be a string, but it is ${nameWithArticle(key)}`);
}

/** `a string`, `an int`, `null`. */
export function nameWithArticle(value: unknown): string {
  const type = typeOf(value);
  if (type === "null") return type;
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** Deep equality. Numbers of different types can be equal. */
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

/** The string form of values, as in JSON of `Date` and protobuf. */
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

/** Limit on the depth of values. */
const maximumDepth = 500;

/** Sets an own key of an object, even if it is called __proto__. */
function setKey(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
  else map[key] = value;
}

/**
 * Copies a computed value to JSON. Throws `CelError` for values that JSON cannot represent exactly. A value may contain
 * the same part many times, and each one is copied, so this takes from the budget.
 */
export function toJson(value: unknown, budget: EvaluationBudget, depth = 0): unknown {
  if (depth > maximumDepth)
    throw new EvaluationLimit(`the value is nested deeper than ${maximumDepth} levels`);
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
      throw new CelError(`${value} is too large for a JSON number; use string(…)`);
    }
    case "double":
      // JSON has no negative zero.
      if (Number.isFinite(value)) return (value as number) + 0;
      throw new CelError(`${value} is not a JSON number`);
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
      if (content === undefined) throw new CelError("an optional value is absent; use orValue(…)");
      return toJson(content, budget, depth + 1);
    }
    default:
      if (value instanceof Uint8Array) budget.spendString(value.length);
      return scalarToString(value);
  }
}

/**
 * Takes a value that was only read from the budget. It is already JSON, but may be copied wherever it is used.
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
