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
