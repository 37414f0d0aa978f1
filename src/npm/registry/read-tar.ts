/** Thrown if a tarball exceeds a limit. The message continues after "its tarball". */
export class TarballLimitError extends Error {
  override readonly name = "TarballLimitError";
}

export interface TarLimits {
  /** Limit on the whole archive, including headers. */
  maximumBytes: number;
  maximumEntries: number;
}

/** A regular file of an archive. */
export interface TarFile {
  path: string;
  size: number;
  /** May be called once, before the iteration continues. */
  read(): Promise<Buffer>;
}

const blockSize = 512;
/** The same limit as npm's. */
const maximumHeaderBytes = 1 << 20;

export const formatSize = (bytes: number): string =>
  bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30} GiB` : `${Math.ceil(bytes / 2 ** 20)} MiB`;

/** Reads bytes from a stream of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #maximumBytes: number;
  #chunk: Uint8Array = new Uint8Array();
  #length = 0;

  constructor(chunks: AsyncIterable<Uint8Array>, maximumBytes: number) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#maximumBytes = maximumBytes;
  }

  /** Takes up to `wanted` bytes of the current chunk; none at the end. */
  async #take(wanted: number): Promise<Uint8Array> {
    if (this.#chunk.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return this.#chunk;
      this.#length += value.length;
      if (this.#length > this.#maximumBytes)
        throw new TarballLimitError(`exceeds the limit of ${formatSize(this.#maximumBytes)} when unpacked`);
      this.#chunk = value;
    }
    const taken = this.#chunk.subarray(0, wanted);
    this.#chunk = this.#chunk.subarray(taken.length);
    return taken;
  }

  /** Copies the next bytes; fewer at the end. */
  async read(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let missing = length; missing > 0; ) {
      const part = await this.#take(missing);
      if (part.length === 0) break;
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Skips bytes. Returns how many were available. */
  async skip(length: number): Promise<number> {
    let skipped = 0;
    while (skipped < length) {
      const { length: taken } = await this.#take(length - skipped);
      if (taken === 0) break;
      skipped += taken;
    }
    return skipped;
  }
}

const textAt = (block: Buffer, start: number, length: number) => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end);
};

/** Parses a number: octal digits, or binary if the first bit is set. `NaN` for anything else. */
function numberAt(block: Buffer, start: number, length: number): number {
  const field = block.subarray(start, start + length);
  if (((field[0] ?? 0) & 0x80) === 0) {
    const digits = textAt(block, start, length).trim();
    return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || "0", 8) : Number.NaN;
  }
  let value = (field[0] ?? 0) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return value;
}

/** The values of extended headers, which apply to the next file. */
interface Extended {
  path?: string | undefined;
  size?: number | undefined;
}

/** Parses the records of an extended header: "length key=value" with a line end. */
function readExtended(data: Buffer): Extended {
  const extended: Extended = {};
  for (let at = 0; at < data.length; ) {
    const length = Number.parseInt(data.toString("latin1", at, at + 12), 10);
    if (!(length > 0)) break;
    const record = data.toString("utf8", at, at + length - 1);
    const [, key, value = ""] = /^\d+ ([^=]+)=([\s\S]*)$/.exec(record) ?? [];
    if (key === "path") extended.path = value;
    if (key === "size") extended.size = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    at += length;
  }
  return extended;
}

/** Whether the checksum of a header is correct. */
function hasValidChecksum(header: Buffer): boolean {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return sum === numberAt(header, 148, 8);
}

function pathOf(header: Buffer): string {
  const name = textAt(header, 0, 100);
  // Older formats have other fields at this offset.
  const prefix = header.toString("latin1", 257, 265) === "ustar\u000000" ? textAt(header, 345, 155) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/**
 * Reads the regular files of a tar archive in order, like npm. Rejects with `TarballLimitError`, or with another error if
 * the archive is not valid.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  { maximumBytes, maximumEntries }: TarLimits,
): AsyncGenerator<TarFile, void, undefined> {
  const source = new ByteSource(chunks, maximumBytes);
  const ofAll: Extended = {};
  let ofNext: Extended = {};
  let isAtEnd = false;
  for (let entries = 0; ; ) {
    const header = await source.read(blockSize);
    if (header.length < blockSize) return;
    if (header.every((byte) => byte === 0)) {
      // One empty block is skipped, two mark the end.
      if (isAtEnd) return;
      isAtEnd = true;
      continue;
    }
    isAtEnd = false;
    if (!hasValidChecksum(header)) throw new Error("not a tar archive");
    if (++entries > maximumEntries)
      throw new TarballLimitError(`exceeds the limit of ${maximumEntries} entries`);
    const type = String.fromCharCode(header[156] ?? 0);
    const path = ofNext.path ?? pathOf(header);
    // Folders have no content, regardless of their size field.
    const isFolder = type === "5" || (path.endsWith("/") && "07\0".includes(type));
    const size = isFolder ? 0 : (ofNext.size ?? ofAll.size ?? numberAt(header, 124, 12));
    if (!Number.isSafeInteger(size) || size < 0) throw new Error("an entry has no size");
    let left = size;
    const read = async () => {
      const bytes = await source.read(size);
      left -= bytes.length;
      if (left > 0) throw new Error("the archive is truncated");
      return bytes;
    };
    if ("xXgLN".includes(type)) {
      if (size > maximumHeaderBytes)
        throw new TarballLimitError(
          `has a header that exceeds the limit of ${formatSize(maximumHeaderBytes)}`,
        );
      const data = await read();
      if (type === "x" || type === "X") ofNext = { ...ofNext, ...readExtended(data) };
      else if (type === "g") ofAll.size = readExtended(data).size ?? ofAll.size;
      else ofNext.path = textAt(data, 0, data.length);
    } else if (type !== "K") {
      ofNext = {};
      if (!isFolder && "07\0".includes(type)) yield { path, size, read };
    }
    if ((await source.skip(left)) < left) throw new Error("the archive is truncated");
    // The last block may be incomplete.
    await source.skip((blockSize - (size % blockSize)) % blockSize);
  }
}
