import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { ancestorsOf, declaredDependencies, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findHandlers, parseHandler } from "../extension-schema/handlers.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";

/** What package managers and users write next to a package.json. */
const projectFiles: ReadonlySet<string> = new Set([
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "deno.lock",
  "node_modules",
  "trailblaze.config.yaml",
  "trailblaze.config.yml",
  "trailblaze.config.json",
  "trailblaze.lock",
]);

/** What npm, pnpm and Yarn write last. */
const lastFiles: ReadonlySet<string> = new Set([
  ".package-lock.json",
  ".modules.yaml",
  ".yarn-state.yml",
  ".yarn-integrity",
]);

const isInProject = (name: string) => projectFiles.has(name);
/** Other hidden entries are temporary folders and caches. */
const isInNodeModules = (name: string) => !name.startsWith(".") || lastFiles.has(name);
const isManifest = (name: string) => name === "package.json";

function listScopes(nodeModules: string): string[] {
  try {
    return readdirSync(nodeModules)
      .filter((name) => name.startsWith("@"))
      .map((name) => join(nodeModules, name));
  } catch {
    return [];
  }
}

/** Entries by folder; several conditions for one folder are joined. */
class Entries extends Map<string, (name: string) => boolean> {
  addEntries(folder: string, isWatched: (name: string) => boolean): void {
    const before = this.get(folder);
    this.set(folder, before === undefined ? isWatched : (name) => before(name) || isWatched(name));
  }

  addFile(path: string): void {
    const name = basename(path);
    this.addEntries(dirname(path), (one) => one === name);
  }

  addNodeModules(folder: string): void {
    for (const one of [folder, ...listScopes(folder)]) this.addEntries(one, isInNodeModules);
  }
}

/** The modules of the config's built-ins, absolute. */
function findBuiltInModules({ builtIns, directory }: SessionConfig): string[] {
  return builtIns.flatMap((definition) =>
    findHandlers({ shape: "tool", definition: { ...definition } }).flatMap(({ handler }) => {
      const place = typeof handler === "string" ? parseHandler(handler) : { fault: "a function" };
      return "module" in place ? [resolve(directory, place.module)] : [];
    }),
  );
}

/**
 * The few entries whose changes may change a session: of the project and its workspace, of their node_modules, of the config,
 * and the package.json of each of `packages` and of dependencies that are being installed. Throws if there is no project.
 */
export async function findWatchedEntries(
  cwd: string,
  config: SessionConfig,
  configOption: unknown,
  packages: readonly string[],
): Promise<ReadonlyMap<string, (name: string) => boolean>> {
  const port = createNodeDiscoveryPort();
  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const entries = new Entries();
  const members = workspace === undefined ? [] : [workspace.root, ...workspace.members];
  for (const folder of new Set([project.directory, ...members])) {
    entries.addEntries(folder, isInProject);
    entries.addNodeModules(join(folder, "node_modules"));
  }
  for (const folder of ancestorsOf(project.directory)) {
    const nodeModules = join(folder, "node_modules");
    if (!entries.has(nodeModules) && port.exists(nodeModules)) entries.addNodeModules(nodeModules);
  }
  for (const name of declaredDependencies(project.manifest)) {
    const folder = join(project.directory, "node_modules", name);
    if (port.exists(folder) && !port.exists(join(folder, "package.json")))
      entries.addEntries(folder, isManifest);
  }
  for (const location of packages) entries.addEntries(location, isManifest);
  if (typeof configOption === "string") entries.addFile(resolve(cwd, configOption));
  for (const path of findBuiltInModules(config)) entries.addFile(path);
  return entries;
}
