import { join, relative, sep } from "node:path";
import { walkProject } from "../../discovery/find-packs.ts";
import { isFault } from "../../discovery/manifest.ts";
import { declaredDependencies, findProject } from "../../discovery/project.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { findReservedCommands } from "../../qualified-names/reserved-commands.ts";
import { type LinkedCommand, readLinkedCommands } from "./linked-commands.ts";

/** An installed package, or a file in node_modules/.bin, that overrides a reserved command. */
export interface InstalledClaim {
  /** Name and version of the package, or the program's path if the package is unknown. */
  package: string;
  command: string;
  /** Absolute. */
  location: string;
}

export interface CommandState {
  /** Packages that override a reserved command, whether node_modules/.bin links to them or not. */
  claims: InstalledClaim[];
  /** The reserved commands in node_modules/.bin of the project and of its workspace's root. */
  linked: LinkedCommand[];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/**
 * Checks every installed package of a project, and the targets of the reserved commands in node_modules/.bin, which may
 * differ from package.json: npm links the commands in the registry's manifest.
 * Throws `TrailblazeError` `ProjectNotFound`.
 */
export async function findClaims(port: DiscoveryPort, cwd: string): Promise<CommandState> {
  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const sources = new Set([project.directory, ...(workspace ? [workspace.root, ...workspace.members] : [])]);
  const walk = walkProject(port, project, workspace, declaredDependencies(project.manifest), "always");
  const claims: InstalledClaim[] = [];
  for (const { location, installedAs, read } of walk.found.values()) {
    if (sources.has(location) || isFault(read)) continue;
    const name = textOf(read.value.name);
    const owner = name !== undefined && installedAs.has(name) ? name : undefined;
    const described = `${name ?? [...installedAs][0]} ${textOf(read.value.version) ?? ""}`.trim();
    for (const { command } of findReservedCommands(read.value, owner))
      claims.push({ package: described, command, location });
  }
  const folders = [...new Set([project.directory, workspace?.root ?? project.directory])];
  const linked = folders.flatMap((folder) => readLinkedCommands(join(folder, "node_modules", ".bin")));
  for (const { file, command, target = file, isOwned } of linked) {
    if (isOwned || claims.some(({ location }) => target.startsWith(`${location}${sep}`))) continue;
    const path = relative(project.directory, target);
    const [, name] = /^.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^.\\/][^\\/]*)/.exec(path) ?? [];
    claims.push({ package: name === undefined ? path : `${name} (${path})`, command, location: target });
  }
  return { claims, linked };
}

/** The claims that are new. */
export function findNewClaims(before: CommandState, after: CommandState): InstalledClaim[] {
  const keyOf = ({ package: name, command, location }: InstalledClaim) =>
    JSON.stringify([name, command, location]);
  const known = new Set(before.claims.map(keyOf));
  return after.claims.filter((claim) => !known.has(keyOf(claim)));
}
