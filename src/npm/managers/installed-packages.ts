import { join } from "node:path";
import { isRecord } from "../../data/parse-json.ts";
import { readUsableManifest } from "../../discovery/manifest.ts";
import { findProject } from "../../discovery/project.ts";
import { walkInstalled } from "../../discovery/walk-packages.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { findReservedCommands } from "../../qualified-names/reserved-commands.ts";

/** An installed package that is not of the project's own workspace. Its strings are untrusted. */
export interface InstalledPackage {
  name: string;
  /** Whether it is installed under its name. */
  isNamed: boolean;
  version: string;
  /** Absolute. */
  location: string;
  manifest: Readonly<Record<string, unknown>>;
}

/** A package that overrides a reserved command. */
export interface InstalledClaim {
  /** Name and version of the package. */
  package: string;
  command: string;
}

/** Reads the package.json of every installed package of a project. Throws `TrailblazeError` `ProjectNotFound`. */
export async function readInstalledPackages(port: DiscoveryPort, cwd: string): Promise<InstalledPackage[]> {
  const workspace = await findWorkspace(port, findProject(port, cwd));
  return [...walkInstalled(port, workspace)].flatMap(([location, installedAs]) => {
    const read = readUsableManifest(port, location);
    if (read === undefined) return [];
    const name = String(read.value.name ?? installedAs);
    const version = String(read.value.version ?? "");
    return { name, isNamed: installedAs === name, version, location, manifest: read.value };
  });
}

/** The packages that were not installed before, in this version and place. */
export function findNewPackages(
  before: readonly InstalledPackage[],
  after: readonly InstalledPackage[],
): InstalledPackage[] {
  const keyOf = ({ version, location }: InstalledPackage) => `${location}\n${version}`;
  const known = new Set(before.map(keyOf));
  return after.filter((one) => !known.has(keyOf(one)));
}

/** The first package that overrides a reserved command according to its package.json. */
export function findClaim(packages: readonly InstalledPackage[]): InstalledClaim | undefined {
  for (const { name, isNamed, version, manifest } of packages) {
    const [claim] = findReservedCommands(manifest, isNamed ? name : undefined);
    if (claim !== undefined) return { package: `${name} ${version}`.trim(), command: claim.command };
  }
  return undefined;
}

/** The lifecycle scripts that an installation would run. */
export const scriptNames = ["preinstall", "install", "postinstall"];

/** The names of the packages with install scripts; npm also builds a package with a binding.gyp. */
export function findSkippedScripts(port: DiscoveryPort, packages: readonly InstalledPackage[]): string[] {
  const hasScript = ({ location, manifest: { scripts, gypfile } }: InstalledPackage) =>
    (isRecord(scripts) && scriptNames.some((name) => Object.hasOwn(scripts, name))) ||
    (gypfile !== false && port.exists(join(location, "binding.gyp")));
  return [...new Set(packages.filter(hasScript).map(({ name }) => name))].sort();
}
