import { join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { PackageManager } from "../problems/index.ts";
import { readUsableManifest } from "./manifest.ts";
import type { Project } from "./project.ts";
import { findWorkspace, type Workspace } from "./workspace.ts";

/** The package managers that Trailblaze can run. */
type ManagerName = "npm" | "pnpm" | "yarn";

/** The package manager of a project. */
export interface ProjectManager {
  name: ManagerName;
  /** Yarn 2 and later have different options. */
  isModernYarn: boolean;
}

/** Files of package managers in a folder. */
export interface ManagerTraces {
  lockfiles: readonly string[];
  hasYarnrcYml: boolean;
  hasPnpmWorkspace: boolean;
  /** Package managers with a metadata file in node_modules. */
  installedBy: readonly ManagerName[];
  /** The start of yarn.lock, which differs between Yarn 1 and later versions. */
  readYarnLock(): string;
}

/** A folder that may determine the package manager: the project's, then its workspace's root. */
export interface ManagerFolder {
  /** Its package.json; `undefined` if it cannot be read. */
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
  "deno.lock": "deno",
};

export const lockfileNames: readonly string[] = Object.keys(ofLockfile);

const marks: Readonly<Record<ManagerName, string>> = {
  npm: "node_modules/.package-lock.json",
  pnpm: "node_modules/.modules.yaml",
  yarn: "node_modules/.yarn-integrity",
};

/** Finds files of package managers in a folder. */
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

/** Reads `packageManager` or `devEngines.packageManager` of a package.json. */
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
 * The package manager of a project: the declared one, the one of its lockfile, or npm. Returns the name of one that
 * Trailblaze cannot run as `unsupported`. Pure.
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
    // If there are several lockfiles, prefer the package manager that installed node_modules.
    const [name] = [...installedBy.filter((one) => candidates.has(one)), ...candidates];
    if (name !== undefined) return settle(name, "", folder);
    if (hasPnpmWorkspace) return settle("pnpm", "", folder);
  }
  return { name: "npm", isModernYarn: false };
}

/** Finds the package manager of a project from its folder and the root of its workspace. */
export function findProjectManager(
  port: DiscoveryPort,
  { directory }: Pick<Project, "directory">,
  workspace: Workspace | undefined,
): ProjectManager | { unsupported: string } {
  const folders = [...new Set([directory, workspace?.root ?? directory])].map((folder) => {
    const manifest = readUsableManifest(port, folder)?.value;
    return { manifest, traces: readManagerTraces(port, folder) };
  });
  return findManager(folders);
}

/** The package manager for commands in a project's hints. */
export async function findManagerName(port: DiscoveryPort, project: Project): Promise<PackageManager> {
  const workspace = await findWorkspace(port, project);
  return managerIn(port, { project: project.directory, workspace });
}

/** The same for a project whose workspace is known. npm if the project uses an unknown one. */
export function managerIn(
  port: DiscoveryPort,
  { project, workspace }: { project: string; workspace: Workspace | undefined },
): PackageManager {
  const manager = findProjectManager(port, { directory: project }, workspace);
  if (!("unsupported" in manager)) return manager.name;
  const { unsupported } = manager;
  return unsupported === "bun" || unsupported === "deno" ? unsupported : "npm";
}
