import { basename, dirname, join, resolve } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { declaredFolders } from "../discovery/package-folders.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findHandlers, parseHandler } from "../extension-schema/references.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
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
const isManifest = (name: string) => name === "package.json";

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

  /** The folders that packages with these names have or would have, and what a package manager writes last. */
  addNodeModules(port: DiscoveryPort, folder: string, names: ReadonlySet<string>): void {
    const tops = new Set([...names].map((name) => name.replace(/\/.*/, "")));
    this.addEntries(folder, (name) => lastFiles.has(name) || tops.has(name));
    for (const scope of tops) {
      const path = join(folder, scope);
      if (scope.startsWith("@") && port.exists(path))
        this.addEntries(path, (name) => names.has(`${scope}/${name}`));
    }
    for (const name of names) {
      const path = join(folder, name);
      if (port.exists(path) && !port.exists(join(path, "package.json"))) this.addEntries(path, isManifest);
    }
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
 * The few entries whose changes may change a session: of the project and its workspace, the folders of declared
 * dependencies, the package.json of each of `packages` and of dependencies that are being installed, what package managers
 * write last, the config and the lock. Throws if there is no project.
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
  const { root, members } = workspace;
  for (const folder of new Set([project.directory, root, ...members]))
    entries.addEntries(folder, isInProject);
  for (const folder of ancestorsOf(project.directory)) {
    if (!folder.startsWith(root)) break;
    entries.addFile(join(folder, "trailblaze.lock"));
  }
  const declared = declaredFolders(port, workspace);
  const names = new Set(declared.flatMap(({ name }) => name ?? []));
  for (const folder of ancestorsOf(project.directory)) {
    const nodeModules = join(folder, "node_modules");
    if (port.exists(nodeModules)) entries.addNodeModules(port, nodeModules, names);
  }
  for (const location of packages) entries.addEntries(location, isManifest);
  if (typeof configOption === "string") entries.addFile(resolve(cwd, configOption));
  for (const path of findBuiltInModules(config)) entries.addFile(path);
  return entries;
}
