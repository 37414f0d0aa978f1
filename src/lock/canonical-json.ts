import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import type { Json } from "./types.ts";

/** Limit on the nesting of a recorded value, in levels; the lock nests a few more. */
const maximumDepth = 150;

/** Sets a property, also one called __proto__. `Object.fromEntries` does the same at many times the cost. */
export function setKey(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Thrown for a value that a lock cannot record. */
export class UnrecordableError extends Error {
  override readonly name = "UnrecordableError";
}

/**
 * A copy of a value as JSON: functions and `undefined` are left out, as `JSON.stringify` does. Throws `UnrecordableError`
 * for one that is nested too deep.
 */
export function toJson(value: unknown, depth = 0): Json | undefined {
  if (depth > maximumDepth) throw new UnrecordableError(`it is nested deeper than ${maximumDepth} levels`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "bigint":
      return String(value);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((entry) => toJson(entry, depth + 1) ?? null);
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) {
    const json = toJson((value as Record<string, unknown>)[key], depth + 1);
    if (json !== undefined) setKey(copy, key, json);
  }
  return copy;
}

const compareKeys = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * JSON with sorted keys: equal values give equal text. Without `indent` it is the canonical form of RFC 8785, otherwise
 * the form of `JSON.stringify` with two spaces. `indent` is the current one.
 */
export function formatJson(value: Json, indent?: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent === undefined ? undefined : `${indent}  `;
  const colon = indent === undefined ? ":" : ": ";
  const parts = Array.isArray(value)
    ? value.map((entry) => formatJson(entry, inner))
    : Object.keys(value)
        .sort(compareKeys)
        .map((key) => `${JSON.stringify(key)}${colon}${formatJson(value[key] ?? null, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (parts.length === 0 || indent === undefined) return `${open}${parts.join(",")}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
}

/** `sha256-` and the base64 of the hash of a text. */
export const hashText = (text: string): string =>
  `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** The hash of a value's canonical form. */
export const hashJson = (value: Json): string => hashText(formatJson(value));

/**
 * Whether two values have the same canonical form. The order of keys does not matter. `b` may be any value: one that is not
 * JSON is never the same.
 */
export function isSameJson(a: Json | undefined, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!isSameJson(a[index], b[index])) return false;
    return true;
  }
  if (!isRecord(a) || !isRecord(b) || b instanceof Date) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) if (!Object.hasOwn(b, key) || !isSameJson(a[key], b[key])) return false;
  return true;
}
