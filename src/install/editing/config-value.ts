import { isRecord } from "../../data/parse-json.ts";

/** A JSON value. Entries consist of these. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonRecord = { [key: string]: JsonValue };

/** A config's value in comparable form: objects without a prototype; dates and big numbers as tagged objects. */
export type PlainValue = unknown;

/** A copy in which objects have no prototype, so that `__proto__` is an ordinary key. */
export function toPlain(value: unknown): PlainValue {
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Date) return { $date: String(value.toJSON()) };
  if (typeof value === "bigint") return { $integer: value.toString() };
  if (!isRecord(value)) return value;
  const plain = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) plain[key] = toPlain(value[key]);
  return plain;
}

export const copyRecord = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(Object.create(null), map);

/** Whether two plain values are equal, ignoring the order of keys. Faster than Node's own on large configs. */
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

/** The value at a path of keys; `undefined` if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}
