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

/** The offset after the string of a JSON text that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 0x22)
    index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  return index + 1;
}

/** Offset at which brackets nest deeper than `maximumDepth`, outside strings; -1 if they never do. */
function findExcessiveDepth(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = endOfString(text, index) - 1;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maximumDepth) return index;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
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
  const tooDeep = findExcessiveDepth(text);
  if (tooDeep >= 0) {
    throw new DataSyntaxError(`it is nested deeper than ${maximumDepth} levels`, text, tooDeep);
  }
  try {
    return { text, value: parse(text) };
  } catch {
    throw new DataSyntaxError(text.trim() === "" ? "it is empty" : "it is not valid JSON", text);
  }
}

/** True for a JSON object, false for null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names the type of a JSON value for messages: `an array`, `null`, `a string`. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
