import { isAllowed, matchesAny } from "../config/packs-policy.ts";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { findProject } from "../discovery/project.ts";
import { findReferences } from "../extension-schema/references.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { qualifyPackageName, splitSpec } from "../qualified-names/item-name.ts";
import { isQualifiedName, parseQualifiedName } from "../qualified-names/qualified-name.ts";
import { selectPacks } from "./select-packs.ts";
import type { SessionOptions } from "./session-options.ts";

type InstallOptions = Pick<SessionOptions, "cwd" | "config" | "install" | "signal" | "onInstall">;

/** Returns why a pack could not be installed. One that is added may refer to missing packs, which are installed next. */
async function installPack(
  missing: { name: string; range: string | undefined },
  { autoInstall }: SessionConfig["packs"],
  { cwd = process.cwd(), signal, onInstall: onCommand }: InstallOptions,
): Promise<Problem | undefined> {
  const { installMissing } = await import("../npm/add-packs.ts");
  // A qualified name in the config is a deliberate choice, even if it is similar to another.
  const allowSimilar = autoInstall.includes(qualifyPackageName(missing.name));
  const { added, problems } = await installMissing(missing, { cwd, allowSimilar, signal, onCommand });
  return added.length > 0 ? undefined : problems[0];
}

function mayInstall(name: string, packs: SessionConfig["packs"], install: boolean): boolean {
  const qualifiedName = qualifyPackageName(name);
  return isAllowed(packs, [qualifiedName]) && (install || matchesAny(packs.autoInstall, [qualifiedName]));
}

/**
 * Runs `work`, installing the packs that it misses if `install` or the config's `packs.autoInstall` allows it; never
 * those that `packs.deny` excludes. Otherwise its errors, such as `PackNotInstalled`, are thrown.
 */
export async function withMissingPacks<Value>(
  options: InstallOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  const { cwd = process.cwd(), config, install = false } = options;
  const tried = new Set<string>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const missing = error instanceof TrailblazeError ? error.missingPack : undefined;
      if (missing === undefined || tried.has(missing)) throw error;
      tried.add(missing);
      const { directory } = findProject(port, cwd);
      const { packs } = await readConfig(port, { directory, config, cwd });
      const spec = splitSpec(missing);
      if (!mayInstall(spec.name, packs, install)) throw error;
      const failed = await installPack(spec, packs, options);
      if (failed !== undefined) throw new TrailblazeError(failed);
    }
  }
}

/**
 * Installs missing packs as far as that is allowed: those that the config's toolsets and the session's `calls` name,
 * those that packs of the session name, and so on. A pack that cannot be installed is returned as a problem. Throws
 * `TrailblazeError` if a call needs it.
 */
export async function installReferredPacks(
  { packs: policy, toolsets, subprocessServers }: SessionConfig,
  options: InstallOptions & { calls?: readonly string[] },
): Promise<Problem[]> {
  const { cwd = process.cwd(), install = false, calls = [] } = options;
  const references = [...calls, ...[...toolsets.values()].flat()];
  const readNames = (written: readonly string[]) =>
    written.filter((one) => isQualifiedName(one)).map((one) => parseQualifiedName(one));
  const called = new Set(readNames(calls).map((name) => name.packageName));
  const tried = new Set<string>();
  const problems: Problem[] = [];
  for (;;) {
    const found = await findPacks(port, { cwd, policy });
    const { selected } = await selectPacks(found, references);
    const isThere = (name: string) =>
      resolveFrom(port, found.project, name) !== undefined ||
      found.packs.some(({ pack }) => pack.name === name) ||
      // `server/tool` names a server of the config, even if a package has the same name.
      subprocessServers.some((server) => server.name === name);
    const written = selected.flatMap(({ pack, items }) =>
      readNames(items.flatMap(findReferences).map(({ reference }) => reference)).filter(
        (name) => name.packageName !== pack.packageName,
      ),
    );
    const missing = [...written, ...readNames(references)].find(
      ({ packageName: name }) => !tried.has(name) && !isThere(name) && mayInstall(name, policy, install),
    );
    if (missing === undefined) return problems;
    const { packageName: name, range } = missing;
    tried.add(name);
    const failed = await installPack({ name, range }, policy, options);
    if (failed === undefined) continue;
    // A call needs its tool; a session can go on without it.
    if (called.has(name)) throw new TrailblazeError(failed);
    problems.push(failed);
  }
}
