import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { isDeclaredOrigin } from "../discovery/types.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import { type CheckedPack, makesUnusable } from "../validate/checked-pack.ts";

/** A package that a state uses. */
export interface UsedPackage {
  /** The name it is installed under. */
  name: string;
  /** False for the package of a config's server. */
  isPack: boolean;
  location: string;
  /** What its package manager had written last. Absolute paths. */
  lastFiles: readonly string[];
}

/** What package managers delete at the start of an installation and write at its end. */
const lastFiles = [".package-lock.json", ".yarn-integrity"];

function findLastFiles(location: string): string[] {
  const end = location.lastIndexOf(`${sep}node_modules${sep}`);
  if (end < 0) return [];
  const folder = join(location.slice(0, end), "node_modules");
  return lastFiles.map((name) => join(folder, name)).filter((path) => existsSync(path));
}

/** Packs of the project and its dependencies, and packages of the config's servers. */
export function findUsedPackages(found: FoundPacks, { subprocessServers }: SessionConfig): UsedPackage[] {
  const port = createNodeDiscoveryPort();
  const used: UsedPackage[] = [];
  for (const { pack } of found.packs) {
    const { name, location, origin, shadowed } = pack;
    if (!isDeclaredOrigin(origin) || shadowed) continue;
    used.push({ name, isPack: true, location, lastFiles: findLastFiles(location) });
  }
  for (const { package: name } of subprocessServers) {
    const location = name === undefined ? undefined : resolveFrom(port, found.project, name);
    if (name === undefined || location === undefined) continue;
    used.push({ name, isPack: false, location, lastFiles: findLastFiles(location) });
  }
  return used;
}

/**
 * Throws a `TrailblazeError` if the project must not be used as it is: its package.json cannot be read, or a package is
 * missing that it still declares and that the state before used, as in the middle of an installation.
 */
export function refuseIncompleteProject(found: FoundPacks, before: readonly UsedPackage[]): void {
  const fault = found.broken.get(found.project);
  if (fault !== undefined) throw new TrailblazeError(fault);
  const port = createNodeDiscoveryPort();
  const declared = declaredDependencies(findProject(port, found.project).manifest);
  const isThere = new Set(found.packs.map(({ pack }) => pack.name));
  for (const { name, isPack, location } of before) {
    if (isPack && isThere.has(name)) continue;
    const now = declared.has(name) ? resolveFrom(port, found.project, name) : location;
    const broken = now === undefined ? undefined : found.broken.get(now);
    if (broken !== undefined) throw new TrailblazeError(broken);
    if (!declared.has(name)) continue;
    if (now === undefined || !port.exists(join(now, "package.json"))) {
      throw failure("PackNotInstalled", {
        name,
        isDeclared: true,
        manager: managerIn(port, found.workspace),
      });
    }
  }
}

const keyOfItem = ({ declaration: { kind, name } }: InspectedItem) => `${kind} ${name}`;

const isUsable = ({ unusable }: CheckedPack, item: InspectedItem) =>
  item.definition !== null && !unusable.has(item);

/** Whether npm has moved the former version aside: `.name-` and 8 characters next to the package. */
function hasFormerVersion(location: string): boolean {
  const start = `.${basename(location)}-`;
  try {
    return readdirSync(dirname(location)).some(
      (name) => name.startsWith(start) && /^[A-Za-z0-9]{8}$/.test(name.slice(start.length)),
    );
  } catch {
    return false;
  }
}

/**
 * Throws a `TrailblazeError` if files of a pack are missing because it is still being installed: an item that the state
 * before offered cannot be used, and the package manager has not finished.
 */
export function refuseIncompletePacks(
  packs: readonly CheckedPack[],
  before: { used: readonly UsedPackage[]; packs: readonly CheckedPack[] },
): void {
  for (const pack of packs) {
    const { inspected, unusable } = pack;
    const { name, location } = inspected.pack;
    const former = before.packs.find((one) => one.inspected.pack.name === name);
    if (former === undefined) continue;
    const items = former.inspected.items.filter((item) => isUsable(former, item));
    const usable = new Set(items.map(keyOfItem));
    const lost = inspected.items.find((item) => usable.has(keyOfItem(item)) && !isUsable(pack, item));
    // Without the root folder, no item has a problem of its own.
    const fault = lost && (unusable.get(lost) ?? inspected.problems.find(makesUnusable));
    if (fault === undefined) continue;
    const written = before.used.find((one) => one.isPack && one.name === name)?.lastFiles ?? [];
    if (hasFormerVersion(location) || written.some((path) => !existsSync(path)))
      throw new TrailblazeError(fault);
  }
}
