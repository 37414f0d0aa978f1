import type { JsonRecord, JsonValue } from "./config-value.ts";

/** A string in double quotes, valid in TOML and YAML. */
export function quoteText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

export const tomlKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoteText(key));

/** Formats a value on one line. It must not contain null, which TOML does not have. */
export function tomlValue(value: JsonValue): string {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).map(([key, member]) => `${tomlKey(key)} = ${tomlValue(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** A table with its header, without a trailing line end. */
export function tomlTable(header: string, entry: JsonRecord, lineEnd: string): string {
  const lines = Object.entries(entry).map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`);
  return [header, ...lines].join(lineEnd);
}
