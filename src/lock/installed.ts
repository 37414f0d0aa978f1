import { isFault, readManifest } from "../discovery/manifest.ts";
import { ancestorsOf } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { findPackageFolder } from "../inspection/server-package.ts";
import { readIntegrities } from "./read-integrity.ts";

/** Versions and integrities of installed packages, by the package manager's lockfile. */
export class Installed {
  readonly #project: string;
  #integrities: ReadonlyMap<string, string> = new Map();

  constructor(project: string) {
    this.#project = project;
  }

  #read(packages: readonly { name: string; version: string | null; location: string }[]) {
    return packages.length === 0
      ? new Map<string, string>()
      : readIntegrities([...ancestorsOf(this.#project)], packages);
  }

  /** Reads the integrities of all packs at once. */
  readPacks(packs: readonly DiscoveredPack[]): void {
    this.#integrities = this.#read(packs);
  }

  integrityOf({ location }: DiscoveredPack): string | undefined {
    return this.#integrities.get(location);
  }

  /** The installed package of a server of the config; `undefined` without a package. */
  findPackage(name: string | undefined): { version: string | null; integrity: string | null } | undefined {
    if (name === undefined) return undefined;
    const port = createNodeInspectionPort();
    const location = findPackageFolder(port, this.#project, name);
    const read = location === undefined ? "absent" : readManifest(port, location, "always");
    const value = typeof read === "string" || isFault(read) ? {} : read.value;
    const version = typeof value.version === "string" ? value.version : null;
    if (location === undefined) return { version, integrity: null };
    const integrity = this.#read([{ name, version, location }]).get(location) ?? null;
    return { version, integrity };
  }
}
