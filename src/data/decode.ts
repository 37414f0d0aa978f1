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
