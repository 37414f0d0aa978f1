import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";

/** A JSON pointer as keys; a number where the value it goes through is a list. */
export function readPointer(pointer: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(value) ? Number(key) : key);
    value = valueAt(value, [key]);
  }
  return path;
}

/** The value at a path; `undefined` where nothing of its own is there. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    root,
  );
}

/** What a value of a file is, in the words for what people write: `a list`, `a map`, `a text`, `a number`. */
export function describeWritten(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return typeof value.$function === "string" ? "a function" : "a map";
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text";
  return typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

/** JSON Schema's names of types, in the words of `describeWritten`. */
export const typeWords: Readonly<Record<string, string>> = {
  object: "a map",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  number: "a number",
};

/** A path as a JSON pointer: `""` for the top. */
export function writePointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
