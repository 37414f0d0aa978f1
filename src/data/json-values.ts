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

/** Whether arrays and objects are nested in more than so many levels. With aliases of YAML, a value can be in several places. */
export const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/**
 * JSON with sorted keys: equal values give equal text. Without `indent` it is the canonical form of RFC 8785, otherwise
 * the form of `JSON.stringify` with two spaces. `indent` is the current one.
 */
export function formatJson(value: unknown, indent?: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent === undefined ? undefined : `${indent}  `;
  const colon = indent === undefined ? ":" : ": ";
  const parts = Array.isArray(value)
    ? value.map((entry) => formatJson(entry, inner))
    : Object.keys(value)
        .sort()
        .map(
          (key) =>
            `${JSON.stringify(key)}${colon}${formatJson((value as Record<string, unknown>)[key] ?? null, inner)}`,
        );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (parts.length === 0 || indent === undefined) return `${open}${parts.join(",")}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
}
