import type { Path } from "../problems/index.ts";

/** Every string in a value, with its path. Parsers limit the depth. */
export function* stringsIn(value: unknown, path: Path = []): Generator<{ text: string; path: Path }> {
  if (typeof value === "string") yield { text: value, path };
  else if (typeof value === "object" && value !== null)
    for (const [key, entry] of Object.entries(value))
      yield* stringsIn(entry, [...path, Array.isArray(value) ? Number(key) : key]);
}
