import { join } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";

/** The packages that a state uses, by name. */
export interface UsedPackages {
  /** Location by name. */
  readonly locations: ReadonlyMap<string, string>;
}

/** Packs of the project and its dependencies, and packages of the config's servers. */
export function findUsedPackages(found: FoundPacks, { subprocessServers }: SessionConfig): UsedPackages {
  const locations = new Map<string, string>();
  for (const { pack } of found.packs) {
    if (pack.origin !== "transitive" && pack.origin !== "global" && !pack.shadowed) {
      locations.set(pack.name, pack.location);
    }
  }
  for (const { package: name } of subprocessServers) {
    const location = name === undefined ? undefined : found.resolvePackage(name);
    if (name !== undefined && location !== undefined) locations.set(name, location);
  }
  return { locations };
}

/**
 * Throws a `TrailblazeError` if the project must not be used as it is: its package.json cannot be read, or a package is
 * missing that it still declares and that the state before used, as in the middle of an installation.
 */
export function refuseIncompleteProject(found: FoundPacks, before: UsedPackages): void {
  const fault = found.broken.get(found.project);
  if (fault !== undefined) throw new TrailblazeError(fault);
  const port = createNodeDiscoveryPort();
  const declared = declaredDependencies(findProject(port, found.project).manifest);
  const isThere = new Set(found.packs.map(({ pack }) => pack.name));
  for (const [name, location] of before.locations) {
    if (isThere.has(name)) continue;
    const now = declared.has(name) ? found.resolvePackage(name) : location;
    const broken = now === undefined ? undefined : found.broken.get(now);
    if (broken !== undefined) throw new TrailblazeError(broken);
    if (!declared.has(name)) continue;
    if (now === undefined || !port.exists(join(now, "package.json"))) {
      throw failure("PackNotInstalled", { name, isDeclared: true, manager: found.manager });
    }
  }
}

/** The problem of a change that a session does not apply. */
export const describeUnappliedChange = (error: unknown): Problem =>
  createProblem("ChangeNotApplied", {
    cause: "project",
    reason: error instanceof Error ? error.message : String(error),
  });
