/** A part of a resource's content: `text`, or `blob` in base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Readonly<Record<string, unknown>>;
}

export interface ReadAnswer {
  contents: readonly ResourceContents[];
  /** Whether it is the same for every client and read, so that clients may keep it as long as lists. */
  isStatic: boolean;
  _meta?: Readonly<Record<string, unknown>>;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Media types whose contents are not text, whatever their bytes are. */
const binaryType =
  /^(?:(?:image|audio|video|font)\/(?!.*\+xml)|application\/(?:octet-stream|pdf|zip|gzip)\b)/i;

/** The text in bytes; `undefined` if they are not text. */
function readText(bytes: Uint8Array, mimeType: string | undefined): string | undefined {
  if (mimeType !== undefined && binaryType.test(mimeType)) return undefined;
  try {
    return bytes.includes(0) ? undefined : utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The contents of a file: as text unless its media type or its bytes say that it is binary. */
export function describeFile(uri: string, mimeType: string | undefined, bytes: Uint8Array): ResourceContents {
  const type = mimeType === undefined ? {} : { mimeType };
  const text = readText(bytes, mimeType);
  return text === undefined
    ? { uri, ...type, blob: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") }
    : { uri, ...type, text };
}
