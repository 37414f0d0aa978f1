import { isRecord } from "../../data/parse-json.ts";

export type ConfigFormatName = "json" | "jsonc" | "toml" | "yaml";
/** `tomlList`: TOML in which containers are arrays whose entries have their keys as `name`. */
export type EditedFormat = ConfigFormatName | "tomlList";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonRecord = { [key: string]: JsonValue };

export interface EntryPlace {
  container: readonly string[];
  key: string;
}

export interface ConfigEditor {
  isList?: boolean;
  /** An entry as text, as in a new file and without a line end. */
  write(place: EntryPlace, entry: JsonRecord): string;
  /** An entry on one line, as it can be pasted into a container. */
  writeInline(key: string, entry: JsonRecord): string;
  /** Parses a text without a byte order mark. Throws `DataSyntaxError`. */
  open(text: string): ParsedConfig;
}

/** A parsed text. Each edit returns alternative texts, best first, which are verified by parsing them. */
export interface ParsedConfig {
  readonly value: unknown;
  offsetOf(path: readonly string[]): number;
  /**
   * Adds an entry or replaces it, or without a value removes it. What is in place of its containers is an object or an array, or
   * nothing.
   */
  edit(place: EntryPlace, entry?: JsonValue): string[];
}

/** A value in comparable form: objects without a prototype, so that `__proto__` is an ordinary key; dates and big numbers tagged. */
export function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Date) return { $date: String(value.toJSON()) };
  if (typeof value === "bigint") return { $integer: value.toString() };
  if (!isRecord(value)) return value;
  const plain = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) plain[key] = toPlain(value[key]);
  return plain;
}

/** A value below keys that lead to it. */
export const wrap = (keys: readonly string[], value: JsonValue): JsonValue =>
  keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);

export const splice = (text: string, start: number, end: number, replacement: string): string =>
  text.slice(0, start) + replacement + text.slice(end);

export const findLineEnd = (text: string): string => (/\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n");

export const startOfLine = (text: string, offset: number): number => text.lastIndexOf("\n", offset - 1) + 1;

export function endOfLine(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : newline;
  return end > offset && text[end - 1] === "\r" ? end - 1 : end;
}

/** The offset before the line end that ends at an offset; the offset itself if there is none. */
export function beforeLineEnd(text: string, offset: number): number {
  if (text[offset - 1] !== "\n") return offset;
  return offset - (text[offset - 2] === "\r" ? 2 : 1);
}
