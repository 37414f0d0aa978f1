import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { PackageManager } from "../problems/index.ts";
import { isFault, readManifest } from "./manifest.ts";
import type { Project } from "./project.ts";
import { findWorkspace, type Workspace } from "./workspace.ts";

/** The package managers that Trailblaze can run. */
type ManagerName = "npm" | "pnpm" | "yarn";

/** The package manager of a project, in its dialect. */
export interface ProjectManager {
  name: ManagerName;
  /** Yarn from version 2 on is another program with other options. */
  isModernYarn: boolean;
}

/** What tells which package manager a folder's project uses, as it lies there. */
export interface ManagerTraces {
  lockfiles: readonly string[];
  hasYarnrcYml: boolean;
  hasPnpmWorkspace: boolean;
  /** Those that have left their file in node_modules. */
  installedBy: readonly ManagerName[];
  /** The start of yarn.lock, which tells Yarn's generations apart. */
  readYarnLock(): string;
}

/** A folder that may tell which package manager is used: the project's, then its workspace's root. */
export interface ManagerFolder {
  /** Its package.json; `undefined` where it cannot be read. */
  manifest: Readonly<Record<string, unknown>> | undefined;
  traces: ManagerTraces;
}

const ofLockfile: Readonly<Record<string, string>> = {
  "package-lock.json": "npm",
  "npm-shrinkwrap.json": "npm",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

export const lockfileNames: readonly string[] = Object.keys(ofLockfile);

const marks: Readonly<Record<ManagerName, string>> = {
  npm: "node_modules/.package-lock.json",
  pnpm: "node_modules/.modules.yaml",
  yarn: "node_modules/.yarn-integrity",
};

/** Looks which package managers have been at work in a folder. */
export function readManagerTraces(port: DiscoveryPort, folder: string): ManagerTraces {
  const has = (name: string) => port.exists(join(folder, name));
  return {
    lockfiles: lockfileNames.filter(has),
    hasYarnrcYml: has(".yarnrc.yml"),
    hasPnpmWorkspace: has("pnpm-workspace.yaml"),
    installedBy: (["npm", "pnpm", "yarn"] as const).filter((name) => has(marks[name])),
    readYarnLock: () =>
      Buffer.from(port.readProjectFile(folder, "yarn.lock") ?? []).toString("utf8", 0, 1024),
  };
}

/** The `packageManager` of a package.json, or that of its `devEngines`. */
function readDeclared(manifest: ManagerFolder["manifest"]): { name: string; version: string } | undefined {
  const declared = manifest?.packageManager;
  if (typeof declared === "string") {
    const [name = "", version = ""] = declared.split("@");
    return { name, version };
  }
  const engines = isRecord(manifest?.devEngines) ? manifest.devEngines.packageManager : undefined;
  const [first] = Array.isArray(engines) ? engines : [engines];
  if (!isRecord(first) || typeof first.name !== "string") return undefined;
  return { name: first.name, version: typeof first.version === "string" ? first.version : "" };
}

function isModern(version: string, { traces }: ManagerFolder): boolean {
  const major = /\d+/.exec(version)?.[0];
  if (major !== undefined) return Number(major) >= 2;
  return traces.hasYarnrcYml || /^__metadata:/m.test(traces.readYarnLock());
}

const isDriven = (name: string): name is ManagerName => name === "npm" || name === "pnpm" || name === "yarn";

/**
 * The package manager that a project uses: the one it declares, else that of its lockfile, else npm. The name of one
 * that Trailblaze cannot drive is given as it is. Pure.
 */
export function findManager(folders: readonly ManagerFolder[]): ProjectManager | { unsupported: string } {
  const settle = (name: string, version: string, folder: ManagerFolder) =>
    isDriven(name)
      ? { name, isModernYarn: name === "yarn" && isModern(version, folder) }
      : { unsupported: name };
  for (const folder of folders) {
    const declared = readDeclared(folder.manifest);
    if (declared !== undefined) return settle(declared.name, declared.version, folder);
    const { lockfiles, installedBy, hasPnpmWorkspace } = folder.traces;
    const candidates = new Set(lockfiles.map((file) => ofLockfile[file] ?? file));
    // With lockfiles of several, the one that installed what is there.
    const [name] = [...installedBy.filter((one) => candidates.has(one)), ...candidates];
    if (name !== undefined) return settle(name, "", folder);
    if (hasPnpmWorkspace) return settle("pnpm", "", folder);
  }
  return { name: "npm", isModernYarn: false };
}

/** The package manager of a project, by its own folder and that of its workspace's root. */
export function findProjectManager(
  port: DiscoveryPort,
  { directory }: Pick<Project, "directory">,
  workspace: Workspace | undefined,
): ProjectManager | { unsupported: string } {
  const folders = [...new Set([directory, workspace?.root ?? directory])].map((folder) => {
    const read = readManifest(port, folder, "always");
    const manifest = typeof read === "string" || isFault(read) ? undefined : read.value;
    return { manifest, traces: readManagerTraces(port, folder) };
  });
  return findManager(folders);
}

/** The package manager whose commands hints for a project name. */
export async function findManagerName(port: DiscoveryPort, project: Project): Promise<PackageManager> {
  return nameManager(findProjectManager(port, project, await findWorkspace(port, project)));
}

/** The package manager whose commands a hint for a project names: npm where it uses one that we do not know. */
export function nameManager(manager: ProjectManager | { unsupported: string }): PackageManager {
  if (!("unsupported" in manager)) return manager.name;
  return manager.unsupported === "bun" ? "bun" : "npm";
}
