import { isRecord } from "../../data/parse-json.ts";

/** Data as JSON has it; what an entry is made of. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonRecord = { [key: string]: JsonValue };

/** Data as a config may hold it, comparable: maps without prototype, dates and big numbers as what they say. */
export type PlainValue = unknown;

/** A copy in which every map has no prototype, so that a key such as `__proto__` is a key like any other. */
export function toPlain(value: unknown): PlainValue {
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Date) return { $date: String(value.toJSON()) };
  if (typeof value === "bigint") return { $integer: value.toString() };
  if (!isRecord(value)) return value;
  const plain = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) plain[key] = toPlain(value[key]);
  return plain;
}

/** A copy of a record, not of what is in it. */
export const copyRecord = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(Object.create(null), map);

/** Whether two plain values are the same, the order of keys aside. Faster than Node's own on large configs. */
export function isSameValue(a: PlainValue, b: PlainValue): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((one, index) => isSameValue(one, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
  );
}

/** The value at a path of keys; `undefined` where there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** JSON with sorted keys: the same for two values that differ in order and spelling only. */
export function canonicalJson(value: unknown): string {
  const sort = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(sort);
    if (!isRecord(part)) return part;
    const keys = Object.keys(part).sort();
    return keys.map((key) => [key, sort(part[key])]).concat([["$map"]]);
  };
  return JSON.stringify(sort(toPlain(value))) ?? "undefined";
}
