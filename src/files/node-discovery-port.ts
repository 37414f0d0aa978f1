import { isUtf8 } from "node:buffer";
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
  statSync,
} from "node:fs";
import { sep } from "node:path";
import { type DiscoveryPort, type ManifestRead, maximumProjectFileBytes } from "./discovery-port.ts";
import { attempt, describeFileType, errorCode, openFlags } from "./file-errors.ts";

/** Limit on the size of a package.json that is searched for the field. A larger one is always reported. */
const maximumSearchedBytes = 64 << 20;

/** Holds one package.json at a time. Few are larger. */
const buffer = Buffer.allocUnsafeSlow(1 << 16);

function readManifest(directory: string): ManifestRead | undefined {
  let descriptor: number | undefined;
  try {
    // A pipe is not waited for.
    const opened = openSync(`${directory}${sep}package.json`, openFlags);
    descriptor = opened;
    // Reading a folder or the pipe of a writer throws.
    const length = attempt(() => readSync(opened, buffer)) ?? 0;
    const isWhole = length > 0 && length < buffer.length;
    const text = buffer.toString("utf8", 0, length);
    if (isWhole && !text.includes('"trailblaze"') && !text.includes("\uFFFD")) return { text, isUtf8: true };
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { reason: `it is ${describeFileType(stats)}, not a regular file` };
    if (stats.size > maximumSearchedBytes) return { tooLarge: stats.size };
    const read = buffer.subarray(0, length);
    const bytes = isWhole ? read : Buffer.concat([read, readFileSync(descriptor)]);
    return { text: bytes.toString(), isUtf8: isUtf8(bytes) };
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { reason: `it cannot be read (${code})` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function isTrusted(path: string, reference: string): boolean {
  const user = process.getuid?.();
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  if (user === undefined || owner === undefined) return true;
  return [0, user, statSync(reference, { throwIfNoEntry: false })?.uid].includes(owner);
}

export const discoveryPort: DiscoveryPort = {
  readManifest,
  isTrusted,
  listDirectory: (directory) => attempt(() => readdirSync(directory, { withFileTypes: true })),
  exists: existsSync,
  realPath: (path) => attempt(() => realpathSync.native(path)),
  readProjectFile: (directory, file) =>
    attempt(() => {
      const path = `${directory}${sep}${file}`;
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats?.isFile() && stats.size <= maximumProjectFileBytes ? readFileSync(path) : undefined;
    }),
  hasProjectFile: (directory, file) =>
    attempt(() => lstatSync(`${directory}${sep}${file}`, { throwIfNoEntry: false })) !== undefined,
  async globalPackages() {
    const { findGlobalPackages } = await import("./npm-configuration.ts");
    return findGlobalPackages({ env: process.env });
  },
};
