import { isRecord } from "../data/parse-json.ts";

/** A canonical string: equal exactly for equal JSON values. */
export function writeCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "";
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${writeCanonical(value[key])}`);
  return `{${members.join(",")}}`;
}

/**
 * The indexes of two equal items; `undefined` if there are none. Takes linear time.
 */
export function findDuplicate(items: readonly unknown[]): [number, number] | undefined {
  if (items.length < 2) return undefined;
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    // Canonical strings of other values do not start with a quotation mark.
    const text = typeof item === "string" ? `"${item}` : writeCanonical(item);
    const before = seen.get(text);
    if (before !== undefined) return [before, index];
    seen.set(text, index);
  }
  return undefined;
}
