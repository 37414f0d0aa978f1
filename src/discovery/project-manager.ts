import { join } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { PackageManager } from "../problems/index.ts";
import { readUsableManifest } from "./manifest.ts";
import type { Workspace } from "./workspace.ts";

/** The package managers that Trailblaze can run, and what each writes into the node_modules that it installed. */
const marks = {
  npm: "node_modules/.package-lock.json",
  pnpm: "node_modules/.modules.yaml",
  yarn: "node_modules/.yarn-integrity",
} as const;

/** The package manager of a project: one that Trailblaze can run, or any. */
export interface ProjectManager<Name = keyof typeof marks> {
  name: Name;
  /** Yarn 2 and later have different options. */
  isModernYarn: boolean;
}

const ofLockfile: Readonly<Record<string, string>> = {
  "package-lock.json": "npm",
  "npm-shrinkwrap.json": "npm",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
  "deno.lock": "deno",
  "pnpm-workspace.yaml": "pnpm",
};

export const lockfileNames: readonly string[] = Object.keys(ofLockfile);

export const isDriven = (name: string): name is ProjectManager["name"] => Object.hasOwn(marks, name);

function readDeclared(port: DiscoveryPort, folder: string): [name?: string, version?: string] {
  const packageManager = readUsableManifest(port, folder)?.value.packageManager;
  return typeof packageManager === "string" ? (packageManager.split("@", 2) as [string]) : [];
}

function findManager(port: DiscoveryPort, folder: string): ProjectManager<string> | undefined {
  const has = (file: string) => port.exists(join(folder, file));
  const [declared, version = ""] = readDeclared(port, folder);
  const locked = lockfileNames.filter(has).map((file) => ofLockfile[file] ?? file);
  // If there are several lockfiles, prefer the package manager that installed node_modules.
  const name = declared ?? locked.find((one) => isDriven(one) && has(marks[one])) ?? locked[0];
  if (name === undefined) return undefined;
  const major = /\d+/.exec(version)?.[0];
  if (name !== "yarn" || major !== undefined)
    return { name, isModernYarn: name === "yarn" && Number(major) >= 2 };
  const lockfile = Buffer.from(port.readProjectFile(folder, "yarn.lock") ?? []).toString("utf8", 0, 1024);
  return { name, isModernYarn: has(".yarnrc.yml") || /^__metadata:/m.test(lockfile) };
}

/** The package manager of a project or of its workspace's root; npm without a trace of another. */
export function findProjectManager(
  port: DiscoveryPort,
  { project, root }: Pick<Workspace, "project" | "root">,
): ProjectManager<string> {
  const found = findManager(port, project.directory) ?? findManager(port, root);
  return found ?? { name: "npm", isModernYarn: false };
}

/** The package manager for commands in a project's hints; npm if the project uses an unknown one. */
export function managerIn(port: DiscoveryPort, workspace: Workspace): PackageManager {
  const { name } = findProjectManager(port, workspace);
  return isDriven(name) || name === "bun" || name === "deno" ? name : "npm";
}
