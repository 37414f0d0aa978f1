import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, relative, sep } from "node:path";
import { list, type ReadEntry, Unpack } from "tar";
import { maximumFileBytes } from "../../files/inspection-port.ts";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { failure, formatSize } from "../../problems/index.ts";
import { findManagerProgram, runManager } from "../managers/package-manager.ts";
import type { RegistrySpec } from "../parse-specs.ts";
import { usualRetries } from "./fetch-options.ts";
import { explainFailure, type RegistryClient } from "./registry-client.ts";

/** Limit on the size of a tarball, and on that of its unpacked contents. */
const limits = { packed: 256 << 20, unpacked: 1 << 30 };

const invalid = "its tarball is not a valid package";

export const createFailure = (spec: RegistrySpec, reason: string) =>
  failure("InstallFailed", { what: `add ${spec.text}`, reason });

/** A package of a registry. */
export interface FetchedPackage {
  /** Absolute. */
  folder: string;
  /**
   * Unpacks selected files to the folder. Paths begin below the top folder of the tarball. Skips links, devices, paths
   * outside the package, and files above 1 MiB, because definitions cannot be that large.
   */
  unpack(isWanted: (path: string) => boolean): Promise<void>;
  /** Reads the digest of each file of the tarball, by its path. */
  digest(): Promise<ReadonlyMap<string, string>>;
  remove(): void;
}

export interface FetchContext {
  client: RegistryClient;
  configuration: NpmConfiguration;
  /** The folder whose configuration npm uses. */
  directory: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Whether a file of a package is a package manager's own: npm renames lists of ignored files. */
const isOfManager = (path: string) => /(?:^|\/)\.(?:git|npm)ignore$|^node_modules\//.test(path);

/** Hashes a file without carriage returns, because npm changes the line breaks of commands. */
function createDigest() {
  const hash = createHash("sha256");
  return {
    add: (chunk: Buffer) => hash.update(chunk.toString("latin1").replaceAll("\r", ""), "latin1"),
    end: () => hash.digest("hex"),
  };
}

async function digestTarball(file: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  await list({
    file,
    onReadEntry(entry) {
      const path = posix.normalize(entry.path.replace(/^[^/]*\//, ""));
      if (!/File$/.test(entry.type) || isOfManager(path)) return;
      const digest = createDigest();
      entry.on("data", digest.add).on("end", () => digests.set(path, digest.end()));
    },
  });
  return digests;
}

/** Names an installed file that differs from those of the tarball, or that only one of them has; `undefined` if none does. */
export function findDifference(folder: string, files: ReadonlyMap<string, string>): string | undefined {
  const rest = new Set(files.keys());
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll(sep, "/");
    if (entry.isDirectory() || isOfManager(path)) continue;
    const digest = createDigest();
    if (entry.isFile()) digest.add(readFileSync(file));
    if (!entry.isFile() || files.get(path) !== digest.end()) return path;
    rest.delete(path);
  }
  return [...rest][0];
}

/** Lets npm download the package that it would install, and verify its integrity, without running its scripts. */
async function download(context: FetchContext, spec: RegistrySpec, folder: string): Promise<void> {
  const { client, configuration, directory: cwd, timeoutMs, signal } = context;
  const npm = findManagerProgram("npm");
  if (npm === undefined) throw createFailure(spec, "npm, which downloads packages, is not on the PATH");
  const retries = [...usualRetries].filter(([key]) => !configuration.has(key));
  const settings = [
    "--ignore-scripts",
    "--loglevel=error",
    ...retries.map(([key, value]) => `--${key}=${value}`),
  ];
  const args = ["pack", spec.text, `--pack-destination=${folder}`, ...settings];
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const end = await runManager(npm, { cwd, args, timeoutMs: 2 * timeoutMs, signal: ending });
  if (end.exitCode === 0) return;
  if (signal?.aborted) throw createFailure(spec, "it was interrupted");
  const registry = client.show(client.registryOf(spec.name));
  const code = timeout.aborted ? "ETIMEDOUT" : /npm (?:error|ERR!) code (\w+)/.exec(end.tail)?.[1];
  if (code === undefined) throw createFailure(spec, `npm pack failed${end.reason ? `: ${end.reason}` : ""}`);
  if (code === "E404") throw createFailure(spec, `the registry ${registry} has no such package`);
  if (code === "ETARGET" || code === "ENOVERSIONS")
    throw createFailure(spec, "the registry has no such version");
  if (code === "EINTEGRITY")
    throw createFailure(spec, "its tarball does not match the integrity hash in the registry");
  // npm lists what is in the package.
  if (/^(?:TAR|Z)_/.test(code)) throw createFailure(spec, invalid);
  throw failure("RegistryUnavailable", { registry, reason: explainFailure(code) });
}

/** Fetches a package to a temporary folder. Throws `TrailblazeError`: `InstallFailed`, `RegistryUnavailable`. */
export async function fetchPackage(context: FetchContext, spec: RegistrySpec): Promise<FetchedPackage> {
  const { signal } = context;
  const temporary = mkdtempSync(join(tmpdir(), "trailblaze-pack-"));
  const remove = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  const folder = join(temporary, "package");

  async function unpack(tarball: string, isWanted: (path: string) => boolean): Promise<void> {
    let size = 0;
    const target: Unpack = new Unpack({
      cwd: folder,
      strip: 1,
      filter(path, entry) {
        // Headers count: a tarball may consist of them.
        size += 512 + (entry.size ?? 0);
        if (size > limits.unpacked) target.abort(new Error("too large"));
        const isFile = "type" in entry && /File$/.test((entry as ReadEntry).type);
        return isFile && (entry.size ?? 0) <= maximumFileBytes && isWanted(path.replace(/^[^/]*\//, ""));
      },
    });
    const source = createReadStream(tarball).on("error", (error) => target.abort(error));
    source.pipe(target as unknown as NodeJS.WritableStream);
    try {
      await once(target, "close", { signal });
    } catch {
      if (signal?.aborted) throw createFailure(spec, "it was interrupted");
      if (size > limits.unpacked)
        throw createFailure(
          spec,
          `its tarball exceeds the limit of ${formatSize(limits.unpacked)} when unpacked`,
        );
      throw createFailure(spec, invalid);
    } finally {
      source.destroy();
    }
  }

  try {
    await download(context, spec, temporary);
    const [name = ""] = readdirSync(temporary);
    const tarball = join(temporary, name);
    if (statSync(tarball).size > limits.packed)
      throw createFailure(spec, `its tarball exceeds the limit of ${formatSize(limits.packed)}`);
    mkdirSync(folder);
    const digest = () => digestTarball(tarball);
    return { folder, unpack: (isWanted) => unpack(tarball, isWanted), digest, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
