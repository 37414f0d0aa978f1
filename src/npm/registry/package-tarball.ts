import { createHash, timingSafeEqual } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { addAbortSignal } from "node:stream";
import { createGunzip } from "node:zlib";
import { maximumFileBytes } from "../../files/inspection-port.ts";
import { formatSize, readTar, TarballLimitError } from "./read-tar.ts";

/** Limit on the size of a tarball … */
export const maximumTarballBytes = 256 << 20;
/** … of its unpacked contents … */
const limits = { maximumBytes: 1 << 30, maximumEntries: 100_000 };
/** … and of the selected files in total. */
const maximumKeptBytes = 64 << 20;

const algorithms = ["sha512", "sha384", "sha256", "sha1"] as const;

/**
 * Whether bytes match the strongest hash in `integrity`, or else `shasum`, like npm. `undefined` if there is no supported
 * hash.
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

/** The path of a file in the package, without the top folder of the archive; `undefined` if it is outside. */
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

/**
 * Unpacks selected files of a tarball to a temporary folder. Like npm, uses the last of several entries with the same path.
 * Skips links, devices and paths outside the package. Selected files above 1 MiB are written empty, because definitions
 * cannot be that large. Rejects with `TarballLimitError`, or with another error if the tarball is not valid or `signal`
 * aborts.
 */
export async function unpackTarball(
  tarball: Uint8Array,
  isWanted: (path: string) => boolean,
  signal?: AbortSignal,
): Promise<UnpackedPackage> {
  const gunzip = createGunzip({ chunkSize: 1 << 16 });
  if (signal !== undefined) addAbortSignal(signal, gunzip);
  gunzip.end(tarball);
  const kept = new Map<string, Buffer>();
  let keptBytes = 0;
  try {
    for await (const { path, size, read } of readTar(gunzip, limits)) {
      const inside = pathInPackage(path);
      if (inside === undefined || !isWanted(inside)) continue;
      const isTooLarge = size > maximumFileBytes;
      if (isTooLarge && inside === "package.json")
        throw new TarballLimitError(
          `has a package.json that exceeds the limit of ${formatSize(maximumFileBytes)}`,
        );
      const bytes = isTooLarge ? Buffer.alloc(0) : await read();
      keptBytes += bytes.length - (kept.get(inside)?.length ?? 0);
      if (keptBytes > maximumKeptBytes)
        throw new TarballLimitError(
          `has definitions of servers that exceed the limit of ${formatSize(maximumKeptBytes)}`,
        );
      kept.set(inside, bytes);
    }
  } finally {
    gunzip.destroy();
  }
  return writeFiles(kept);
}

function writeFiles(files: ReadonlyMap<string, Uint8Array>): UnpackedPackage {
  const folder = mkdtempSync(join(tmpdir(), "trailblaze-pack-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    for (const [path, bytes] of files) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { mode: 0o600 });
    }
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
