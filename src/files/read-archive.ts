// Reads ZIP archives as Yarn writes them, by their central directory. Everything in them is a package's and not trusted.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { errorCode, openFlags } from "./make-folders.ts";

/** Limit on the size of a central directory: about 200,000 entries. */
const maximumDirectoryBytes = 16 << 20;
/** How much of the end is read at first; the central directory of most packages fits. */
const tailBytes = 16 << 10;
/** The record at the end, and the longest comment after it. */
const endBytes = 22;
const maximumCommentBytes = 0xffff;
const centralBytes = 46;
const localBytes = 30;

/** Why an archive or an entry cannot be used, as a reason for people. */
export class ArchiveFault extends Error {}

/** A file in an archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly localOffset: number;
  /** False for links, folders and devices. */
  readonly isFile: boolean;
}

/** Whether a name could lead out of a folder that it is joined to. */
const leaves = (name: string) => /^[\\/]|^[A-Za-z]:|(?:^|[\\/])\.\.(?:[\\/]|$)/.test(name);

function readAt(descriptor: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const count = readSync(descriptor, buffer, done, length - done, offset + done);
    if (count === 0) throw new ArchiveFault("it is cut off");
    done += count;
  }
  return buffer;
}

/** The position of the record at the end in the last bytes of an archive; -1 if there is none. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - endBytes; at >= 0; at--) {
    const isEnd = tail.readUInt32LE(at) === 0x06054b50;
    if (isEnd && at + endBytes + tail.readUInt16LE(at + 20) === tail.length) return at;
  }
  return -1;
}

/** The central directory and the number of its entries. */
function readDirectory(descriptor: number): { directory: Buffer; count: number } {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) throw new ArchiveFault("it is not a regular file");
  const { size } = stats;
  const read = (length: number) => readAt(descriptor, size - length, length);
  let tail = read(Math.min(size, tailBytes));
  let at = findEnd(tail);
  if (at < 0 && size > tail.length) {
    tail = read(Math.min(size, endBytes + maximumCommentBytes));
    at = findEnd(tail);
  }
  if (at < 0) throw new ArchiveFault("it is no ZIP archive, or it is cut off");
  const count = tail.readUInt16LE(at + 10);
  const bytes = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  const isSplit = tail.readUInt32LE(at + 4) !== 0 || tail.readUInt16LE(at + 8) !== count;
  if (count === 0xffff || bytes === 0xffffffff || offset === 0xffffffff)
    throw new ArchiveFault("it uses ZIP64, which is not supported");
  const end = size - tail.length + at;
  if (isSplit || offset + bytes > end) throw new ArchiveFault("its directory is damaged");
  if (bytes > maximumDirectoryBytes) throw new ArchiveFault("its directory is too large");
  const start = offset - (size - tail.length);
  const directory = start >= 0 ? tail.subarray(start, start + bytes) : readAt(descriptor, offset, bytes);
  return { directory, count };
}

/** Calls `take` with each entry's name in bytes and its record. */
function eachRecord(
  { directory, count }: { directory: Buffer; count: number },
  take: (name: Buffer, record: Buffer) => void,
): void {
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + centralBytes > directory.length || directory.readUInt32LE(at) !== 0x02014b50)
      throw new ArchiveFault("its directory is damaged");
    const nameEnd = at + centralBytes + directory.readUInt16LE(at + 28);
    const end = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (end > directory.length) throw new ArchiveFault("its directory is damaged");
    take(directory.subarray(at + centralBytes, nameEnd), directory.subarray(at, end));
    at = end;
  }
}

function describeEntry(name: string, record: Buffer): ArchiveEntry {
  const flags = record.readUInt16LE(8);
  const compressedBytes = record.readUInt32LE(20);
  const bytes = record.readUInt32LE(24);
  const localOffset = record.readUInt32LE(42);
  if ((flags & 1) !== 0) throw new ArchiveFault(`${name} is encrypted`);
  if (compressedBytes === 0xffffffff || bytes === 0xffffffff || localOffset === 0xffffffff)
    throw new ArchiveFault("it uses ZIP64, which is not supported");
  // The upper half has the mode if the archive was made on a Unix system.
  const type = (record.readUInt32LE(38) >>> 16) & 0o170000;
  return {
    name,
    method: record.readUInt16LE(10),
    crc: record.readUInt32LE(16),
    compressedBytes,
    bytes,
    localOffset,
    isFile: (type === 0 || type === 0o100000) && !name.endsWith("/"),
  };
}

/** Loaded with the first archive: `list` of most projects needs none. */
const zlib = () => process.getBuiltinModule("node:zlib");

function readContent(descriptor: number, entry: ArchiveEntry): Buffer {
  const { name, crc, compressedBytes, bytes, localOffset } = entry;
  // Compressing never makes much more of it.
  if (compressedBytes > bytes + (bytes >> 8) + 1024) throw new ArchiveFault(`${name} is damaged`);
  const header = readAt(descriptor, localOffset, localBytes);
  if (header.readUInt32LE(0) !== 0x04034b50) throw new ArchiveFault(`${name} is damaged`);
  const nameBytes = header.readUInt16LE(26);
  const skipped = nameBytes + header.readUInt16LE(28);
  const rest = readAt(descriptor, localOffset + localBytes, skipped + compressedBytes);
  if (!rest.subarray(0, nameBytes).equals(Buffer.from(name)))
    throw new ArchiveFault(`${name} has another name where it is stored`);
  const content = inflate(entry, rest.subarray(skipped));
  if (content.length !== bytes || zlib().crc32(content) !== crc)
    throw new ArchiveFault(`${name} is not what the archive's directory says`);
  return content;
}

function inflate({ name, method, bytes }: ArchiveEntry, stored: Buffer): Buffer {
  if (method === 0) return stored;
  if (method !== 8) throw new ArchiveFault(`${name} is compressed in an unknown way`);
  try {
    // More than declared is a fault, however much it would be.
    return zlib().inflateRawSync(stored, { maxOutputLength: Math.max(bytes, 1) });
  } catch (error) {
    const isLarger = errorCode(error) === "ERR_BUFFER_TOO_LARGE";
    throw new ArchiveFault(isLarger ? `${name} is larger than it says` : `${name} is damaged`);
  }
}

function withArchive<T>(archive: string, use: (descriptor: number) => T): T {
  let descriptor: number;
  try {
    descriptor = openSync(archive, openFlags);
  } catch (error) {
    const code = errorCode(error);
    throw new ArchiveFault(code === "ENOENT" ? "it does not exist" : `it cannot be opened (${code})`);
  }
  try {
    return use(descriptor);
  } catch (error) {
    if (error instanceof ArchiveFault) throw error;
    throw new ArchiveFault(`it cannot be read (${errorCode(error)})`);
  } finally {
    closeSync(descriptor);
  }
}

export type EntryRead =
  | { state: "absent" }
  | { state: "tooLarge"; bytes: number }
  | { state: "read"; bytes: Buffer };

/** Reads one file of an archive, of at most `limit` bytes. Throws `ArchiveFault`. */
export function readArchiveEntry(archive: string, name: string, limit: number): EntryRead {
  return withArchive(archive, (descriptor) => {
    const wanted = Buffer.from(name);
    let entry: ArchiveEntry | undefined;
    eachRecord(readDirectory(descriptor), (found, record) => {
      if (!found.equals(wanted)) return;
      if (entry !== undefined) throw new ArchiveFault(`it has two entries of the name ${name}`);
      entry = describeEntry(name, record);
    });
    if (entry === undefined) return { state: "absent" };
    if (!entry.isFile) throw new ArchiveFault(`${name} is no regular file`);
    if (entry.bytes > limit) return { state: "tooLarge", bytes: entry.bytes };
    return { state: "read", bytes: readContent(descriptor, entry) };
  });
}

/** Every entry of an archive, by name. Throws `ArchiveFault`, also for names that lead out of it or occur twice. */
export function listArchive(archive: string): ReadonlyMap<string, ArchiveEntry> {
  return withArchive(archive, (descriptor) => {
    const entries = new Map<string, ArchiveEntry>();
    eachRecord(readDirectory(descriptor), (bytes, record) => {
      const name = bytes.toString();
      if (leaves(name)) throw new ArchiveFault(`it has an entry with the name ${name}`);
      if (entries.has(name)) throw new ArchiveFault(`it has two entries of the name ${name}`);
      entries.set(name, describeEntry(name, record));
    });
    return entries;
  });
}
