import { isAllowed, matchesAny } from "../config/packs-policy.ts";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import { findQualifiedNames } from "../extension-schema/references.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createInspectionPorts } from "../inspection/inspection-ports.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import type { MissingPacksResult } from "../npm/install-missing.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { qualifyPackageName, splitSpec } from "../qualified-names/item-name.ts";
import { selectPacks } from "./select-packs.ts";

export interface MissingPacksOptions {
  cwd?: string;
  config?: string | Readonly<Record<string, unknown>>;
  /** Install whatever is missing; without it only what `packs.autoInstall` of the config matches. */
  install?: boolean;
  signal?: AbortSignal;
  /** Told of each command of the package manager before it runs. */
  onInstall?: (command: string) => void;
}

export interface ReferredPacksOptions extends Omit<MissingPacksOptions, "config"> {
  /** Names of tools that are to be called. */
  calls?: readonly string[];
}

/** A pack that needs another, which needs another, and so on, is nobody's intention. */
const mostInstalls = 20;

/**
 * Does something that may need packs which are not installed, and installs them where that is allowed: by `install`, or
 * by the config's `packs.autoInstall`; never what `packs.deny` shuts out. Otherwise what it throws, as
 * `PackNotInstalled`, is thrown.
 */
export async function withMissingPacks<Value>(
  options: MissingPacksOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  const { cwd = process.cwd(), install = false } = options;
  const tried = new Set<string>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const missing = error instanceof TrailblazeError ? error.missingPack : undefined;
      if (missing === undefined || tried.has(missing) || tried.size >= mostInstalls) throw error;
      tried.add(missing);
      const { packs } = await readPacksConfig(cwd, options.config);
      const { name, range } = splitSpec(missing);
      if (!mayInstall(name, packs, install)) throw error;
      const { added, problems } = await installPack(name, [range], packs, { ...options, cwd });
      // What an added pack misses itself is the next to be installed.
      const [failed] = problems.filter(
        ({ severity, code }) => severity === "error" && (added.length === 0 || code !== "PackNotInstalled"),
      );
      if (failed !== undefined) throw new TrailblazeError(failed);
    }
  }
}

async function installPack(
  name: string,
  ranges: readonly (string | undefined)[],
  { autoInstall }: SessionConfig["packs"],
  { cwd, signal, onInstall }: Pick<MissingPacksOptions, "signal" | "onInstall"> & { cwd: string },
): Promise<MissingPacksResult> {
  const { installMissing } = await import("../npm/install-missing.ts");
  return installMissing([{ name, ranges }], {
    cwd,
    // Who names a pack in full has chosen it, whatever it looks like.
    allowSimilar: autoInstall.includes(qualifyPackageName(name)),
    ...(signal === undefined ? {} : { signal }),
    ...(onInstall === undefined ? {} : { onCommand: onInstall }),
  });
}

function readPacksConfig(cwd: string, config: MissingPacksOptions["config"]): Promise<SessionConfig> {
  const port = createNodeInspectionPort();
  return readConfig(port, { directory: findProject(port, cwd).directory, config, cwd });
}

function mayInstall(name: string, packs: SessionConfig["packs"], install: boolean): boolean {
  const qualifiedName = qualifyPackageName(name);
  if (!isAllowed(packs, qualifiedName, [], { isTransitive: false })) return false;
  return install || matchesAny(packs.autoInstall, [qualifiedName]);
}

/**
 * Installs what a session would refer to and does not find, as far as that is allowed: the packs that the config's
 * toolsets and the session's `calls` name, those that packs of the session name, and so on. What cannot be installed is
 * told, and stands in the way of nothing else. Throws `TrailblazeError` where it is one of the calls.
 */
export async function installReferredPacks(
  {
    packs: policy,
    toolsets,
    servers,
    subprocessServers,
  }: Pick<SessionConfig, "packs" | "toolsets" | "servers" | "subprocessServers">,
  options: ReferredPacksOptions,
): Promise<Problem[]> {
  const { cwd = process.cwd(), install = false, calls = [] } = options;
  const { port, createEvaluator } = createInspectionPorts();
  const references = [...calls, ...[...toolsets.values()].flat()];
  // The config's servers are not a session's, but the same copy of a pack serves them.
  const ofServers = servers.flatMap((server) => [...server.tools, ...server.toolsets, ...server.prompts]);
  const called = new Set(findQualifiedNames([], calls).map((name) => name.packageName));
  const tried = new Set<string>();
  const problems: Problem[] = [];
  for (;;) {
    const found = await findPacks(port, { cwd, policy });
    const { selected } = await selectPacks(found.packs, policy, references, (pack) =>
      loadDefinitions(port, pack.found, { only: pack.selected, createEvaluator: () => createEvaluator({}) }),
    );
    const isThere = (name: string) =>
      found.resolvePackage(name) !== undefined ||
      found.packs.some(({ pack }) => pack.name === name) ||
      // `server/tool` means the user's own server, not the package that has its name.
      subprocessServers.some((server) => server.name === name);
    const items = selected.flatMap((pack) => pack.items);
    const missing = findQualifiedNames(items, references).find(
      ({ packageName }) =>
        !tried.has(packageName) && !isThere(packageName) && mayInstall(packageName, policy, install),
    );
    if (missing === undefined || tried.size >= mostInstalls) return problems;
    const { packageName } = missing;
    tried.add(packageName);
    const ranges = findQualifiedNames(items, [...references, ...ofServers])
      .filter((one) => one.packageName === packageName)
      .map(({ range }) => range);
    const change = await installPack(packageName, ranges, policy, { ...options, cwd });
    if (change.added.length > 0) continue;
    const [failed] = change.problems;
    // Without its tool a call is nothing; a session goes on without.
    if (failed !== undefined && called.has(packageName)) throw new TrailblazeError(failed);
    problems.push(...change.problems);
  }
}
