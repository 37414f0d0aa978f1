import { createHash, timingSafeEqual } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** The most that is read of a tarball, and of what is in it. */
export const maximumTarballBytes = 256 << 20;
const maximumUnpackedBytes = 1 << 30;
const maximumFiles = 100_000;

const algorithms = ["sha512", "sha384", "sha256", "sha1"] as const;

/**
 * Whether bytes are those that a registry announced: by the strongest of the hashes in `integrity`, else by `shasum`,
 * as npm does. `undefined` where it announced nothing that could be compared.
 */
export function hasIntegrity(bytes: Uint8Array, integrity: unknown, shasum: unknown): boolean | undefined {
  const hashes = typeof integrity === "string" ? integrity.trim().split(/\s+/) : [];
  for (const algorithm of algorithms) {
    const announced = hashes.flatMap((hash) => {
      const [name, value = ""] = hash.split("?", 1)[0]?.split(/-(.*)/) ?? [];
      return name === algorithm ? [Buffer.from(value, "base64")] : [];
    });
    if (announced.length > 0) return announced.some((hash) => isHash(bytes, algorithm, hash));
  }
  return typeof shasum === "string" ? isHash(bytes, "sha1", Buffer.from(shasum, "hex")) : undefined;
}

function isHash(bytes: Uint8Array, algorithm: string, hash: Buffer): boolean {
  const own = createHash(algorithm).update(bytes).digest();
  return own.length === hash.length && timingSafeEqual(own, hash);
}

const textAt = (block: Buffer, start: number, length: number) => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end);
};

/** A number as tar has it: octal digits, or, with the first bit set, binary. */
function numberAt(block: Buffer, start: number, length: number): number {
  const field = block.subarray(start, start + length);
  if (((field[0] ?? 0) & 0x80) === 0) return Number.parseInt(textAt(block, start, length).trim() || "0", 8);
  let value = (field[0] ?? 0) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return value;
}

/** The `path` of an extended header: records of "length key=value" with a line end. */
function readExtendedPath(data: Buffer): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < data.length; ) {
    const length = Number.parseInt(data.toString("latin1", at, at + 12), 10);
    if (!(length > 0)) break;
    const record = data.toString("utf8", at, at + length - 1);
    const [, key, value] = /^\d+ ([^=]+)=([\s\S]*)$/.exec(record) ?? [];
    if (key === "path") path = value;
    at += length;
  }
  return path;
}

/** The regular files of a tar archive, in order; a later one of the same path counts. Throws for what is no archive. */
export function* readTar(archive: Buffer): Generator<{ path: string; bytes: Buffer }> {
  let longPath: string | undefined;
  for (let at = 0, count = 0; at + 512 <= archive.length; count++) {
    const header = archive.subarray(at, at + 512);
    if (header.every((byte) => byte === 0)) return;
    const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
    if (sum !== numberAt(header, 148, 8) || count > maximumFiles) throw new Error("no tar archive");
    const size = numberAt(header, 124, 12);
    const type = String.fromCharCode(header[156] ?? 0);
    const data = archive.subarray(at + 512, at + 512 + size);
    if (!(size >= 0) || data.length < size) throw new Error("the archive breaks off");
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === "x") longPath = readExtendedPath(data) ?? longPath;
    else if (type === "L") longPath = textAt(data, 0, data.length);
    else if (type !== "g") {
      const prefix = textAt(header, 257, 5) === "ustar" ? textAt(header, 345, 155) : "";
      const name = textAt(header, 0, 100);
      const path = longPath ?? (prefix === "" ? name : `${prefix}/${name}`);
      longPath = undefined;
      if (type === "0" || type === "\0" || type === "7") yield { path, bytes: data };
    }
  }
}

/** The path of a file inside the package, without the archive's own folder; `undefined` where it leads elsewhere. */
function pathInPackage(path: string): string | undefined {
  const segments = path.replaceAll("\\", "/").split("/").slice(1);
  const isOdd = (segment: string) => /^\.{0,2}$|[\0-\x1f:]/.test(segment);
  return segments.length === 0 || segments.some(isOdd) ? undefined : segments.join("/");
}

export interface UnpackedPackage {
  /** Absolute. */
  folder: string;
  remove(): void;
}

const unzip = promisify(gunzip);

/**
 * Writes the regular files of a package's tarball that are wanted to a temporary folder of this user's: links, devices
 * and paths that lead out are left out. Rejects for what is no tarball, or one whose contents are too large.
 */
export async function unpackTarball(
  tarball: Uint8Array,
  isWanted: (path: string) => boolean,
): Promise<UnpackedPackage> {
  const archive = await unzip(tarball, { maxOutputLength: maximumUnpackedBytes });
  const folder = mkdtempSync(join(tmpdir(), "trailblaze-pack-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    for (const { path, bytes } of readTar(archive)) {
      const inside = pathInPackage(path);
      if (inside === undefined || !isWanted(inside)) continue;
      const file = join(folder, inside);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { mode: 0o600 });
    }
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
