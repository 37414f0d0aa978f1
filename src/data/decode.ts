/** Thrown by the parsers of this folder. `offset` counts UTF-16 code units of the decoded text. */
export class DataSyntaxError extends Error {
  override readonly name = "DataSyntaxError";
  readonly reason: string;
  readonly offset: number | undefined;
  /** The decoded text, when it got that far: positions refer to it. */
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
    throw new DataSyntaxError("it is not UTF-8 text");
  }
}

/** Line and column, both from 1, of an offset into a text. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
