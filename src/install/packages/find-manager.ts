import { isRecord } from "../../data/parse-json.ts";
import type { ManagerName, ManagerTraces } from "../../io/package-manager.ts";

/** The package manager of a project, in its dialect. */
export interface ProjectManager {
  name: ManagerName;
  /** Yarn from version 2 on is another program with other options. */
  isModernYarn: boolean;
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
  return traces.hasYarnrcYml || /^__metadata:/m.test(traces.yarnLockStart);
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

export interface ManagerTask {
  kind: "add" | "remove" | "install";
  /** Specs or names. */
  packages: readonly string[];
  /** Whether the project is the root of a workspace, where some ask for an option. */
  isWorkspaceRoot: boolean;
}

/** The arguments that make a package manager do a task, lifecycle scripts off. Pure. */
export function managerArguments(
  { name, isModernYarn }: ProjectManager,
  { kind, packages, isWorkspaceRoot }: ManagerTask,
): string[] {
  switch (name) {
    case "npm": {
      const verb = { add: "install", remove: "uninstall", install: "install" }[kind];
      return [verb, "--ignore-scripts", "--save", "--no-audit", "--no-fund", "--no-progress", ...packages];
    }
    case "pnpm": {
      const root = isWorkspaceRoot && kind !== "install" ? ["--workspace-root"] : [];
      const frozen = kind === "install" ? ["--no-frozen-lockfile"] : [];
      return [
        kind,
        "--config.ignore-scripts=true",
        "--reporter=append-only",
        ...root,
        ...frozen,
        ...packages,
      ];
    }
    case "yarn": {
      if (isModernYarn) return [kind, ...(kind === "remove" ? [] : ["--mode=skip-build"]), ...packages];
      const root = isWorkspaceRoot && kind !== "install" ? ["--ignore-workspace-root-check"] : [];
      const pure = kind === "install" ? ["--pure-lockfile"] : [];
      return [kind, "--ignore-scripts", "--non-interactive", "--no-progress", ...root, ...pure, ...packages];
    }
  }
}
