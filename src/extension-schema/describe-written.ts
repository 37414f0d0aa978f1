import { isRecord } from "../data/parse-json.ts";

/** What a value of a file is, in the words for what people write: `a list`, `a map`, `a text`, `a number`. */
export function describeWritten(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return typeof value.$function === "string" ? "a function" : "a map";
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text";
  return typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}
