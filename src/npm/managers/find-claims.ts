import { join, relative, sep } from "node:path";
import { walkProject } from "../../discovery/find-packs.ts";
import { isFault } from "../../discovery/manifest.ts";
import { findPackageClaims } from "../../discovery/package-commands.ts";
import { declaredDependencies, findProject } from "../../discovery/project.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { type LinkedCommand, readLinkedCommands } from "./linked-commands.ts";

/** An installed package that takes a reserved command, or a command in node_modules/.bin that is taken. */
export interface InstalledClaim {
  /** Name and version of the package; the program's path where the package itself does not tell. */
  package: string;
  command: string;
  alias?: string;
  /** Absolute. */
  location: string;
}

export interface CommandState {
  /** Packages that take a reserved command, whether it is theirs in node_modules/.bin or not. */
  claims: InstalledClaim[];
  /** The reserved commands in node_modules/.bin of the project and of its workspace's root. */
  linked: LinkedCommand[];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/**
 * Looks at every package that is installed for a project, and at what the reserved commands in node_modules/.bin really
 * start. What a package.json does not tell shows there: npm links the commands that the registry announces.
 * Throws `TrailblazeError` `ProjectNotFound`.
 */
export async function findClaims(port: DiscoveryPort, cwd: string): Promise<CommandState> {
  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const sources = new Set([project.directory, ...(workspace ? [workspace.root, ...workspace.members] : [])]);
  const walk = await walkProject(port, project, workspace, declaredDependencies(project.manifest), "always");
  const claims: InstalledClaim[] = [];
  for (const { location, installedAs, read } of walk.found.values()) {
    if (sources.has(location) || isFault(read)) continue;
    const name = textOf(read.value.name);
    const owner = name !== undefined && installedAs.has(name) ? name : undefined;
    const described = `${name ?? [...installedAs][0]} ${textOf(read.value.version) ?? ""}`.trim();
    for (const { command, alias } of findPackageClaims(port, location, read.value, owner))
      claims.push({ package: described, command, ...(alias === undefined ? {} : { alias }), location });
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

/** The claims that were not there before. */
export function findNewClaims(before: CommandState, after: CommandState): InstalledClaim[] {
  const keyOf = ({ package: name, command, location }: InstalledClaim) =>
    JSON.stringify([name, command, location]);
  const known = new Set(before.claims.map(keyOf));
  return after.claims.filter((claim) => !known.has(keyOf(claim)));
}
