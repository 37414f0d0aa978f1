// What a session that follows its project uses of it, so that an installation under way is noticed, and so are changed programs.
import { createHash } from "node:crypto";
import { join, relative, sep } from "node:path";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { isDeclaredOrigin } from "../discovery/types.ts";
import { type InspectionPort, maximumModuleBytes } from "../files/inspection-port.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import type { ProgramPlan } from "../runtime/server-launches.ts";
import { findNeededFiles, findResourceFiles } from "../validate/needed-files.ts";

/** An installed package that a state uses: a pack, or the package of a server of the config. */
export interface UsedPackage {
  /** The name that it is installed under. */
  name: string;
  isPack: boolean;
  location: string;
}

export function findUsedPackages(
  port: InspectionPort,
  found: FoundPacks,
  { subprocessServers }: SessionConfig,
): UsedPackage[] {
  const ofPacks = found.packs
    .filter(({ pack }) => isDeclaredOrigin(pack.origin) && !pack.shadowed)
    .map(({ pack: { name, location } }) => ({ name, isPack: true, location }));
  const ofServers = subprocessServers.flatMap(({ package: name }) => {
    const location = name === undefined ? undefined : resolveFrom(port, found.project, name);
    return name === undefined || location === undefined ? [] : [{ name, isPack: false, location }];
  });
  return [...ofPacks, ...ofServers];
}

/**
 * Throws a `TrailblazeError` if the project must not be used as it is: its package.json cannot be read, or a package is
 * missing that it still declares and that the state before used, as in the middle of an installation.
 */
export function refuseIncompleteProject(
  port: InspectionPort,
  found: FoundPacks,
  used: readonly UsedPackage[],
): void {
  const fault = found.broken.get(found.project);
  if (fault !== undefined) throw new TrailblazeError(fault);
  const declared = declaredDependencies(findProject(port, found.project).manifest);
  const isThere = new Set(found.packs.map(({ pack }) => pack.name));
  for (const { name, isPack, location } of used) {
    if (isPack && isThere.has(name)) continue;
    const now = declared.has(name) ? resolveFrom(port, found.project, name) : location;
    const broken = now === undefined ? undefined : found.broken.get(now);
    if (broken !== undefined) throw new TrailblazeError(broken);
    if (declared.has(name) && (now === undefined || !port.exists(join(now, "package.json"))))
      throw failure("PackNotInstalled", {
        name,
        isDeclared: true,
        manager: managerIn(port, found.workspace),
      });
  }
}

/** A hash of a package's version and of files in it; a missing file counts as empty. */
function hashFiles(
  port: InspectionPort,
  { location, version }: { location: string; version: unknown },
  files: Iterable<string>,
): string {
  const hash = createHash("sha256").update(JSON.stringify([location, version]));
  for (const file of new Set(files)) {
    const read = port.readFile(location, file, maximumModuleBytes);
    hash.update(JSON.stringify(file)).update(read.state === "read" ? read.bytes : "");
  }
  return hash.digest("hex");
}

/** The content of the code of a pack's tools, prompts and resources: an update, or an edit of one of their files, changes it. */
export function hashPackCode(port: InspectionPort, { pack, items }: InspectedPack): string {
  const isRun = ({ shape }: InspectedItem) => shape !== "subprocessServer";
  return hashFiles(
    port,
    pack,
    [...findNeededFiles(items.filter(isRun)), ...findResourceFiles(items)].map(({ file }) => file),
  );
}

/** The content of the program of a pack's server. */
export function hashPackProgram(port: InspectionPort, { pack }: InspectedPack, plan: ProgramPlan): string {
  return hashFiles(port, pack, [relative(pack.location, plan.toolsetFile).split(sep).join("/")]);
}

/** The content of the program of a user's server; `undefined` if it is not in an installed package. */
export function hashUserProgram(
  port: InspectionPort,
  { package: name }: UserServer,
  { project }: SessionConfig,
  plan: ProgramPlan,
): string | undefined {
  const location = name === undefined ? undefined : resolveFrom(port, project, name);
  if (location === undefined) return undefined;
  const file = relative(location, plan.toolsetFile).split(sep).join("/");
  return hashFiles(port, { location, version: null }, ["package.json", file]);
}
