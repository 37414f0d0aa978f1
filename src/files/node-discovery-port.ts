import { isUtf8 } from "node:buffer";
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join, sep } from "node:path";
import {
  type DiscoveryPort,
  type ManifestRead,
  maximumProjectFileBytes,
  type ProjectFile,
} from "./discovery-port.ts";
import { describeFileType, errorCode, openFlags } from "./file-errors.ts";

/** Limit on the size of a package.json that is searched for the field. A larger one is always reported. */
const maximumSearchedBytes = 64 << 20;

/** Holds one package.json at a time. Few are larger. */
const buffer = Buffer.allocUnsafeSlow(1 << 16);

function skimManifest(directory: string): string | undefined {
  let descriptor: number | undefined;
  try {
    // A pipe is not waited for.
    descriptor = openSync(`${directory}${sep}package.json`, openFlags);
    const length = readSync(descriptor, buffer);
    const text = buffer.toString("latin1", 0, length);
    const isWhole =
      length < buffer.length && text.startsWith("{") && (text.endsWith("}\n") || text.endsWith("}"));
    return isWhole && !text.includes('"trailblaze"') ? text : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const absent: ManifestRead = { state: "absent" };

function readManifest(directory: string): ManifestRead {
  const path = `${directory}${sep}package.json`;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return absent;
    if (!stats.isFile())
      return { state: "unusable", reason: `it is ${describeFileType(stats)}, not a regular file` };
    if (stats.size > maximumSearchedBytes) return { state: "tooLarge", bytes: stats.size };
    // As text, because Node opens, reads and decodes it in one native call; a pipe that replaces the file is not waited for.
    const flag = openFlags as unknown as string;
    const text = readFileSync(path, { encoding: "utf8", flag });
    return { state: "read", text, isUtf8: !text.includes("\uFFFD") || isUtf8(readFileSync(path, { flag })) };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return absent;
    return { state: "unusable", reason: `it cannot be read (${code})` };
  }
}

function isTrusted(path: string, reference: string): boolean {
  const user = process.getuid?.();
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  if (user === undefined || owner === undefined) return true;
  return [0, user, statSync(reference, { throwIfNoEntry: false })?.uid].includes(owner);
}

/** Creates a port for this machine's file system. */
export function createNodeDiscoveryPort(): DiscoveryPort {
  return {
    skimManifest,
    readManifest,
    isTrusted,
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
    async globalPackages() {
      const { findGlobalPackages } = await import("./npm-configuration.ts");
      return findGlobalPackages({ env: process.env });
    },
  };
}
