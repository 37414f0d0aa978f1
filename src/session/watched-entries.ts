import { basename, dirname, join, resolve } from "node:path";
import type { SessionConfig } from "../config/session-config.ts";
import { declaredFolders } from "../discovery/package-folders.ts";
import { ancestorsOf, findProject } from "../discovery/project.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import { findHandlers, parseHandler } from "../extension-schema/references.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import type { WatchedEntries } from "../processes/folder-watcher.ts";

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
): Promise<WatchedEntries> {
  const port = createNodeDiscoveryPort();
  const entries = new Map<string, ((name: string) => boolean)[]>();
  const add = (folder: string, isWatched: (name: string) => boolean) =>
    entries.set(folder, [...(entries.get(folder) ?? []), isWatched]);
  const addFile = (path: string) => add(dirname(path), (name) => name === basename(path));

  const project = findProject(port, cwd);
  const workspace = await findWorkspace(port, project);
  const { root, members } = workspace;
  for (const folder of new Set([project.directory, root, ...members]))
    add(folder, (name) => projectFiles.has(name));
  for (const folder of ancestorsOf(project.directory)) {
    if (!folder.startsWith(root)) break;
    addFile(join(folder, "trailblaze.lock"));
  }
  const declared = declaredFolders(port, workspace);
  const names = new Set(declared.flatMap(({ name }) => name ?? []));
  const tops = new Set([...names].map((name) => name.replace(/\/.*/, "")));
  for (const folder of ancestorsOf(project.directory)) {
    const nodeModules = join(folder, "node_modules");
    if (!port.exists(nodeModules)) continue;
    add(nodeModules, (name) => lastFiles.has(name) || tops.has(name));
    for (const scope of tops) {
      const path = join(nodeModules, scope);
      if (scope.startsWith("@") && port.exists(path)) add(path, (name) => names.has(`${scope}/${name}`));
    }
    for (const name of names) {
      const manifest = join(nodeModules, name, "package.json");
      if (port.exists(dirname(manifest)) && !port.exists(manifest)) addFile(manifest);
    }
  }
  for (const location of packages) addFile(join(location, "package.json"));
  if (typeof configOption === "string") addFile(resolve(cwd, configOption));
  for (const path of findBuiltInModules(config)) addFile(path);
  return new Map(
    [...entries].map(([folder, conditions]) => [folder, (name) => conditions.some((fits) => fits(name))]),
  );
}
