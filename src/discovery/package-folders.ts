import { join } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { isFault, type PackageFolder, readManifest } from "./manifest.ts";
import { ancestorsOf, declaredDependencies, denoFiles, findDenoFile, type Project } from "./project.ts";
import type { Manifest, Origin } from "./types.ts";
import { walkPackages } from "./walk-packages.ts";
import type { Workspace } from "./workspace.ts";

/** The node_modules folders that Node searches from a folder, which exist. */
const nodeModulesAbove = (port: DiscoveryPort, directory: string): string[] =>
  [...ancestorsOf(directory)].map((folder) => join(folder, "node_modules")).filter(port.exists);

/** Where Node looks for packages from a folder. Names that npm does not allow are passed over. */
export function packageFolders(
  port: DiscoveryPort,
  directory: string,
  names: Iterable<string>,
  origin: Origin,
): PackageFolder[] {
  const parents = nodeModulesAbove(port, directory);
  return [...names]
    .filter(isPackageName)
    .map((name) => ({ name, origin, paths: parents.map((parent) => join(parent, name)) }));
}

/** Resolves like Node: to the nearest node_modules with a package of this name. */
export function resolveFrom(port: DiscoveryPort, directory: string, name: string): string | undefined {
  const [folder] = packageFolders(port, directory, [name], "direct");
  const path = folder?.paths.find((one) => port.exists(join(one, "package.json")));
  return path === undefined ? undefined : port.realPath(path);
}

/** What the project declares: itself, the packages of its workspace, and its dependencies and those of the workspace's root. */
export function declaredFolders(
  port: DiscoveryPort,
  { directory, manifest }: Project,
  workspace: Workspace | undefined,
): PackageFolder[] {
  const sources = new Set([directory, ...(workspace ? [workspace.root, ...workspace.members] : [])]);
  const own = declaredDependencies(manifest);
  const root = workspace === undefined || workspace.root === directory ? undefined : workspace.root;
  const ofRoot = root === undefined ? new Set<string>() : declaredDependencies(readUsable(port, root));
  return [
    ...[...sources].map(
      (location): PackageFolder => ({
        name: undefined,
        origin: location === directory ? "self" : "workspace",
        paths: [location],
      }),
    ),
    ...packageFolders(port, directory, own, "direct"),
    ...(root === undefined
      ? []
      : packageFolders(
          port,
          root,
          [...ofRoot].filter((name) => !own.has(name)),
          "direct",
        )),
  ];
}

function readUsable(port: DiscoveryPort, directory: string): Manifest | undefined {
  const read = readManifest(port, directory, "always");
  return typeof read === "string" || isFault(read) ? undefined : read;
}

/** The names of the packs that a name of a pack or an item may mean: `a/b` is the pack `@a/b`, or an item of `a`. */
export function packNamesIn(name: string): string[] {
  const isScoped = name.startsWith("@");
  const [first = "", second, third] = name.replace(/^@/, "").split("/");
  if (second === undefined) return isScoped ? [] : [first];
  const [pack = ""] = second.split("@");
  const scoped = `@${first}/${pack}`;
  return isScoped || third !== undefined ? [scoped] : [scoped, first.split("@")[0] ?? ""];
}

/** The packages at the top level of npm's folder of globally installed packages. */
export async function globalFolders(port: DiscoveryPort): Promise<PackageFolder[]> {
  const parent = await port.globalPackages();
  const listNames = (folder: string) => (port.listDirectory(folder) ?? []).map(({ name }) => name);
  const names = listNames(parent).flatMap((name) =>
    name.startsWith("@") ? listNames(join(parent, name)).map((second) => `${name}/${second}`) : name,
  );
  return names.filter(isPackageName).map((name) => ({ name, origin: "global", paths: [join(parent, name)] }));
}

/** Whether anything is installed for the project or its workspace. */
export function hasInstalledPackages(port: DiscoveryPort, folders: readonly string[]): boolean {
  return folders.some((folder) =>
    port.listDirectory(join(folder, "node_modules"))?.some(({ name }) => !name.startsWith(".")),
  );
}

/** The start of the name of the folder that Deno makes for the project itself in its store: `@acme+app@`. */
function nameInDenoStore({ manifest }: Project): string | undefined {
  const { name } = manifest?.value ?? {};
  return typeof name === "string" ? `${name.replace("/", "+")}@` : undefined;
}

/** Every package that is installed for the project and its workspace, by walking each node_modules. */
export function installedFolders(
  port: DiscoveryPort,
  project: Project,
  workspace: Workspace | undefined,
): PackageFolder[] {
  const declared = declaredFolders(port, project, workspace);
  const roots = declared.flatMap(({ name, paths }) => (name === undefined ? paths : []));
  // A dependency may be in a node_modules above, of which nothing else belongs to the project.
  const links = declared.flatMap(({ name, paths }) => {
    const path = paths.find((one) => port.exists(join(one, "package.json")));
    const target = path === undefined ? undefined : port.realPath(path);
    return name === undefined || target === undefined ? [] : { name, target };
  });
  const found = walkPackages(port, { roots, links, ownUnit: nameInDenoStore(project) });
  return [...found].map(([path, name]) => ({ name, origin: "undeclared", paths: [path] }));
}

/**
 * Finds Yarn Plug'n'Play's file for a project. If the project has its own node_modules, files above its workspace belong to
 * another project.
 */
export function findPlugAndPlay(
  port: DiscoveryPort,
  { directory: project }: Project,
  workspace: Workspace | undefined,
): string | undefined {
  const hasPackages = port.exists(join(project, "node_modules"));
  for (const directory of ancestorsOf(project)) {
    const names = [".pnp.cjs", ".pnp.js"] as const;
    const name = names.find((one) => port.hasProjectFile(directory, one));
    if (name !== undefined) return join(directory, name);
    if (hasPackages && directory === (workspace?.root ?? project)) break;
  }
  return undefined;
}

/** Finds Deno's file in a project whose dependencies Deno keeps in its cache. */
export function findDenoCache(
  port: DiscoveryPort,
  { directory, manifest }: Project,
  workspace: Workspace | undefined,
): string | undefined {
  const folders = [...new Set([directory, workspace?.root ?? directory])];
  const isInstalled = folders.some((folder) => port.exists(join(folder, "node_modules")));
  if (isInstalled || declaredDependencies(manifest).size === 0) return undefined;
  return folders.flatMap((folder) => findDenoFile(port, folder, denoFiles) ?? [])[0];
}
