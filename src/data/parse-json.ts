/** Thrown by the parsers of this folder. `offset` counts UTF-16 code units of the decoded text. */
export class DataSyntaxError extends Error {
  override readonly name = "DataSyntaxError";
  readonly reason: string;
  readonly offset: number | undefined;
  /** The decoded text, to which positions refer; `undefined` if decoding failed. */
  readonly text: string | undefined;

  constructor(reason: string, text?: string, offset?: number) {
    super(reason);
    this.reason = reason;
    this.text = text;
    this.offset = offset;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8 strictly and drops a byte order mark. Throws `DataSyntaxError`. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DataSyntaxError("it is not UTF-8");
  }
}

/** Limit on nesting, in levels: deeper data could overflow the stack of recursive functions. */
export const maximumDepth = 200;

/** The offset after the string of a JSON text that begins at `start`. Takes time in proportion to it, whatever it contains. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Offset at which brackets nest deeper than a limit, outside strings; -1 if they do not. */
export function findExcessiveDepth(text: string, limit: number): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) index = endOfString(text, index) - 1;
    else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > limit) return index;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return -1;
}

/**
 * Parses JSON from bytes or decoded text: UTF-8, an optional byte order mark, at most `maximumDepth` levels. `parse` may
 * remember more than `JSON.parse`.
 * Throws `DataSyntaxError`, whose offset `describeSyntaxError` of `json-positions.ts` finds when it is missing.
 */
export function parseJson(
  source: Uint8Array | string,
  parse: (text: string) => unknown = JSON.parse,
): { text: string; value: unknown } {
  const text = typeof source === "string" ? source.replace(/^\uFEFF/, "") : decodeUtf8(source);
  const tooDeep = findExcessiveDepth(text, maximumDepth);
  if (tooDeep >= 0) {
    throw new DataSyntaxError(`it is nested deeper than ${maximumDepth} levels`, text, tooDeep);
  }
  try {
    return { text, value: parse(text) };
  } catch {
    throw new DataSyntaxError(text.trim() === "" ? "it is empty" : "it is not valid JSON", text);
  }
}

export const isText = (value: unknown): value is string => typeof value === "string";

export const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

/** True for a JSON object, false for null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names what a JSON value is, for messages: `an array`, `null`, `a string`, `an empty string`, `true`, `a function` of a definition. */
export function describeType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "an array";
  if (isRecord(value)) return typeof value.$function === "string" ? "a function" : "an object";
  return typeof value === "string" && value.trim() === "" ? "an empty string" : `a ${typeof value}`;
}
