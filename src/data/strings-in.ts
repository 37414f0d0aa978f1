import type { Path } from "../problems/index.ts";

/** Every string in a value, with its path, and with `keys` those of objects too, with the paths of their values. */
export function* stringsIn(
  value: unknown,
  path: Path = [],
  keys = false,
): Generator<{ text: string; path: Path }> {
  if (typeof value === "string") yield { text: value, path };
  else if (typeof value === "object" && value !== null)
    for (const [key, entry] of Object.entries(value)) {
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      if (keys && !Array.isArray(value)) yield { text: key, path: inner };
      yield* stringsIn(entry, inner, keys);
    }
}
