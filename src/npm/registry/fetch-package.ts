import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { extract, type ReadEntry } from "tar";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";
import { makeTemporary, removeTemporary } from "../../files/temporary-folders.ts";
import { failure, formatSize } from "../../problems/index.ts";
import { findManagerProgram, runManager } from "../managers/package-manager.ts";
import type { RegistrySpec } from "../parse-specs.ts";
import { explainFailure, type RegistryClient, usualRetries } from "./registry-client.ts";

/** Of a tarball, and of its unpacked contents. */
const limits = { packed: 256 << 20, unpacked: 500 << 20 };

export const createFailure = (spec: RegistrySpec, reason: string) =>
  failure("InstallFailed", { what: `add ${spec.text}`, reason });

interface FetchContext {
  client: RegistryClient;
  configuration: NpmConfiguration;
  /** The folder whose configuration npm uses. */
  directory: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Whether a file of a package is a package manager's own: npm renames lists of ignored files. */
const isOfManager = (path: string) => /(?:^|\/)\.(?:git|npm)ignore$|^node_modules\//.test(path);

/** The digest of each file of a package by its path, without carriage returns: npm changes the line breaks of commands. */
export function digestFiles(folder: string): Map<string, string> {
  const digests = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll(sep, "/");
    if (entry.isDirectory() || isOfManager(path)) continue;
    const text = entry.isFile() ? readFileSync(file, "latin1").replaceAll("\r", "") : "not a file";
    digests.set(path, createHash("sha256").update(text, "latin1").digest("hex"));
  }
  return digests;
}

/** Lets npm download the package that it would install, and verify its integrity, without running its scripts. */
async function download(context: FetchContext, spec: RegistrySpec, folder: string): Promise<void> {
  const { client, configuration, directory: cwd, timeoutMs, signal } = context;
  const npm = findManagerProgram("npm");
  if (npm === undefined) throw createFailure(spec, "npm, which downloads packages, is not on the PATH");
  const retries = [...usualRetries].filter(([key]) => !configuration.has(key));
  const settings = retries.map(([key, value]) => `--${key}=${value}`);
  const to = `--pack-destination=${folder}`;
  const args = ["pack", spec.text, to, "--ignore-scripts", "--loglevel=error", ...settings];
  const end = await runManager(npm, { cwd, args, timeoutMs, signal });
  if (end.exitCode === 0) return;
  if (signal?.aborted) throw createFailure(spec, "it was interrupted");
  const registry = client.show(client.registryOf(spec.name));
  const code = end.isLate ? "ETIMEDOUT" : /npm (?:error|ERR!) code (\w+)/.exec(end.tail)?.[1];
  const reasons: [codes: RegExp, reason: string][] = [
    [/^undefined$/, `npm pack failed${end.reason ? `: ${end.reason}` : ""}`],
    [/^E404$/, `the registry ${registry} has no such package`],
    [/^(?:ETARGET|ENOVERSIONS)$/, "the registry has no such version"],
    [/^EINTEGRITY$/, "its tarball does not match the integrity hash in the registry"],
    // npm lists what is in the package.
    [/^(?:TAR|Z)_/, "its tarball is not a valid package"],
  ];
  const [, reason] = reasons.find(([codes]) => codes.test(String(code))) ?? [];
  if (reason !== undefined) throw createFailure(spec, reason);
  throw failure("RegistryUnavailable", { registry, reason: explainFailure(String(code)) });
}

async function unpack(tarball: string, cwd: string, { signal }: FetchContext, spec: RegistrySpec) {
  let size = 0;
  const target = extract({
    cwd,
    sync: true,
    strip: 1,
    filter(_path, entry) {
      // Headers count: a tarball may consist of them.
      size += 512 + (entry.size ?? 0);
      if (size > limits.unpacked) throw new Error("too large");
      // npm, too, makes files readable that are not.
      entry.mode = (entry.mode ?? 0o644) | 0o400;
      return "type" in entry && /File$/.test((entry as ReadEntry).type);
    },
  });
  try {
    // In parts: what one expands to is in memory as a whole, and an interruption takes effect between two.
    for await (const part of createReadStream(tarball, { signal })) target.write(part);
    target.end();
  } catch {
    if (signal?.aborted) throw createFailure(spec, "it was interrupted");
    const limit = `its tarball exceeds the limit of ${formatSize(limits.unpacked)} when unpacked`;
    throw createFailure(spec, size > limits.unpacked ? limit : "its tarball is not a valid package");
  }
}

/**
 * Uses the folder of a package of a registry, with its files but for links and devices. Throws `TrailblazeError`:
 * `InstallFailed`, `RegistryUnavailable`.
 */
export async function withPackage<Result>(
  context: FetchContext,
  spec: RegistrySpec,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const temporary = makeTemporary("trailblaze-pack-");
  const folder = join(temporary, "package");
  try {
    await download(context, spec, temporary);
    const [name = ""] = readdirSync(temporary);
    const tarball = join(temporary, name);
    if (statSync(tarball).size > limits.packed)
      throw createFailure(spec, `its tarball exceeds the limit of ${formatSize(limits.packed)}`);
    mkdirSync(folder);
    await unpack(tarball, folder, context, spec);
    return await use(folder);
  } finally {
    removeTemporary(temporary);
  }
}
