import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, sep } from "node:path";
import {
  type DiscoveryPort,
  type ManifestRead,
  maximumManifestBytes,
  maximumProjectFileBytes,
  type ProjectFile,
} from "./discovery-port.ts";
import { findWorkspaces } from "./find-workspaces.ts";
import { describeFileType, errorCode, openFlags } from "./make-folders.ts";

/** Limit on the size of a package.json that is searched for the field. A larger one is always reported. */
const maximumSearchedBytes = 64 << 20;

const absent: ManifestRead = { state: "absent" };
const irrelevant: ManifestRead = { state: "irrelevant" };
const field = Buffer.from('"trailblaze"');

function unusable(reason: string): ManifestRead {
  return { state: "unusable", reason };
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** True for text that starts with `{` and ends with `}`, ignoring a byte order mark and white space. */
function hasBracesAtEnds(bytes: Buffer, length: number): boolean {
  // The usual format of package managers and editors, checked first.
  if (bytes[0] === 0x7b && bytes[length - 1] === 0x0a && bytes[length - 2] === 0x7d) return true;
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let end = length - 1;
  while (start < end && isWhiteSpace(bytes[start])) start++;
  while (end > start && isWhiteSpace(bytes[end])) end--;
  return start < end && bytes[start] === 0x7b && bytes[end] === 0x7d;
}

/** Creates a port for this machine's file system. All manifests share one buffer. */
export function createNodeDiscoveryPort(): DiscoveryPort {
  // One extra byte detects files above the limit.
  const limit = maximumManifestBytes + 1;
  const buffer = Buffer.allocUnsafe(limit + field.length);

  /** Reads until the buffer is full or the file ends. */
  function fill(descriptor: number, start: number): number {
    let length = start;
    while (length < limit) {
      const count = readSync(descriptor, buffer, length, limit - length, null);
      if (count === 0) break;
      length += count;
    }
    return length;
  }

  /** Whether a large file, whose first part is in the buffer, does not contain the field and ends with a brace. */
  function restIsIrrelevant(descriptor: number, stats: Stats): boolean {
    if (stats.size > maximumSearchedBytes) return false;
    const beginsWell = hasBracesAtEnds(Buffer.concat([buffer.subarray(0, 64), Buffer.from("}")]), 65);
    let length = limit;
    let last = 0;
    while (length > 0) {
      const part = buffer.subarray(0, length);
      if (part.includes(field)) return false;
      for (let index = length - 1; index >= 0; index--) {
        if (!isWhiteSpace(part[index])) {
          last = part[index] ?? 0;
          break;
        }
      }
      // The field may span two parts.
      const overlap = Math.min(field.length - 1, length);
      buffer.copyWithin(0, length - overlap, length);
      const next = fill(descriptor, overlap);
      length = next > overlap ? next : 0;
    }
    return beginsWell && last === 0x7d;
  }

  function readOpened(descriptor: number, which: "always" | "ifRelevant"): ManifestRead {
    let length = readSync(descriptor, buffer, 0, limit, null);
    if (which === "ifRelevant" && length < limit && hasBracesAtEnds(buffer, length)) {
      // A copy behind the text ends the search there: a view of the text alone would cost more than the search.
      field.copy(buffer, length);
      if (buffer.indexOf(field) === length) return irrelevant;
    }

    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return unusable(`it is ${describeFileType(stats)}, not a regular file`);
    length = fill(descriptor, length);
    if (length > maximumManifestBytes) {
      if (which === "ifRelevant" && restIsIrrelevant(descriptor, stats)) return irrelevant;
      return { state: "tooLarge", bytes: stats.size };
    }
    return { state: "read", bytes: Uint8Array.prototype.slice.call(buffer, 0, length) };
  }

  function readManifest(directory: string, which: "always" | "ifRelevant"): ManifestRead {
    let descriptor: number;
    try {
      descriptor = openSync(`${directory}${sep}package.json`, openFlags);
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return absent;
      return unusable(
        code === "ENXIO" ? "it is a socket, not a regular file" : `it cannot be opened (${code})`,
      );
    }
    try {
      return readOpened(descriptor, which);
    } catch (error) {
      const code = errorCode(error);
      if (code === "EISDIR") return unusable("it is a folder, not a regular file");
      if (code === "EAGAIN") return unusable("it is a named pipe, not a regular file");
      return unusable(`it cannot be read (${code})`);
    } finally {
      closeSync(descriptor);
    }
  }

  return {
    readManifest,
    listDirectory(directory) {
      try {
        return readdirSync(directory, { withFileTypes: true });
      } catch {
        return undefined;
      }
    },
    exists: existsSync,
    isLink: (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
    realPath(path) {
      try {
        return realpathSync.native(path);
      } catch {
        return undefined;
      }
    },
    readProjectFile(directory: string, file: ProjectFile) {
      try {
        const path = `${directory}${sep}${file}`;
        // Most files are absent, and exceptions are slower than this check.
        if (!existsSync(path)) return undefined;
        const stats = statSync(path);
        return stats.isFile() && stats.size <= maximumProjectFileBytes ? readFileSync(path) : undefined;
      } catch {
        return undefined;
      }
    },
    hasProjectFile(directory: string, file: ProjectFile) {
      // Not `existsSync`, which is false for unreadable files and broken links.
      try {
        return lstatSync(join(directory, file), { throwIfNoEntry: false }) !== undefined;
      } catch {
        return existsSync(directory);
      }
    },
    findWorkspaces,
    async globalPackages() {
      const { findGlobalPackages } = await import("./npm-configuration.ts");
      return findGlobalPackages({ env: process.env });
    },
  };
}
