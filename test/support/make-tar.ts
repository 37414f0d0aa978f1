export interface TarEntry {
  path: string;
  text?: string;
  type?: string;
  /** The target of a link. */
  link?: string;
  /** The twelve bytes of the size, if it is another than that of the text. */
  size?: string | Buffer;
  /** Default: 0644. */
  mode?: string;
}

/** A tar archive of entries with exactly these paths. */
export function makeTar(entries: readonly TarEntry[], end = Buffer.alloc(1024)): Buffer {
  const blocks = entries.flatMap(({ path, text = "", type = "0", link = "", size, mode = "0644" }) => {
    const header = Buffer.alloc(512);
    header.write(path.slice(0, 100), 0);
    header.write(`000${mode}\0`, 100);
    const bytes = Buffer.from(size ?? `${Buffer.byteLength(text).toString(8).padStart(11, "0")} `);
    bytes.copy(header, 124, 0, 12);
    header.write("        ", 148);
    header.write(type, 156);
    header.write(link, 157);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return Buffer.concat([...blocks, end]);
}
