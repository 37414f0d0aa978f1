import type { SyntaxCause } from "../problems/index.ts";

/** Thrown by the parsers of this folder. `offset` counts UTF-16 code units of the decoded text. */
export class DataSyntaxError extends Error {
  override readonly name = "DataSyntaxError";
  readonly reason: string;
  readonly offset: number | undefined;
  /** The decoded text, to which positions refer; `undefined` if decoding failed. */
  readonly text: string | undefined;
  readonly syntaxCause: SyntaxCause | undefined;

  constructor(reason: string, text?: string, offset?: number, cause?: SyntaxCause) {
    super(reason);
    this.reason = reason;
    this.text = text;
    this.offset = offset;
    this.syntaxCause = cause;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8 strictly and drops a byte order mark. Throws `DataSyntaxError`. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DataSyntaxError("it is not UTF-8", undefined, undefined, "encoding");
  }
}

/** Line and column, both from 1, of offsets into a text. */
export function createLineIndex(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** Line and column, both from 1, of one offset into a text. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  return createLineIndex(text)(offset);
}
