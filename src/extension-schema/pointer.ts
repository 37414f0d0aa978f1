import { describeType } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";

/** The keys of a JSON pointer; indexes of arrays are numbers. */
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

/** The value at a path of own properties; `undefined` if it does not exist. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    root,
  );
}

export function writePointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** A string or a number as written, or what another value is. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return quote(value, 40);
  return typeof value === "number" ? String(value) : describeType(value);
}
