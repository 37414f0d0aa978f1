import { crc32, deflateRawSync } from "node:zlib";

/** An entry of an archive; what is set besides `name` and `content` is written as it is, also if it is wrong. */
export interface ZipEntry {
  name: string;
  content: string | Buffer;
  isStored?: boolean;
  /** The size that the directory says. */
  bytes?: number;
  flags?: number;
  /** The mode of a Unix file, such as that of a link. */
  mode?: number;
}

/** A ZIP archive as Yarn writes it: no comments, no ZIP64. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isStored = false, bytes, flags = 0, mode = 0 } of entries) {
    const plain = Buffer.from(content);
    const stored = isStored ? plain : deflateRawSync(plain);
    const path = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(isStored ? 0 : 8, 4);
    shared.writeUInt32LE(crc32(plain), 10);
    shared.writeUInt32LE(stored.length, 14);
    shared.writeUInt32LE(bytes ?? plain.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, path, stored]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    records.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), shared, rest, path]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(records);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06"), end]);
}
