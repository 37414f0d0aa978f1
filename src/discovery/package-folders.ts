import { join, sep } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { type PackageFolder, readUsableManifest } from "./manifest.ts";
import { ancestorsOf, declaredDependencies, denoFiles, findProjectFile, type Project } from "./project.ts";
import type { Origin } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** Where Node looks for packages from a folder. Names that npm does not allow are passed over. */
export function packageFolders(
  port: DiscoveryPort,
  directory: string,
  names: Iterable<string>,
  origin: Origin,
): PackageFolder[] {
  const parents = [...ancestorsOf(directory)]
    .map((folder) => join(folder, `node_modules${sep}`))
    .filter(port.exists);
  return [...new Set(names)]
    .filter(isPackageName)
    .map((name) => ({ name, origin, paths: parents.map((parent) => parent + name) }));
}

/** Resolves like Node: to the nearest node_modules with a package of this name. */
export function resolveFrom(port: DiscoveryPort, directory: string, name: string): string | undefined {
  const [folder] = packageFolders(port, directory, [name], "direct");
  const path = folder?.paths.find((one) => port.exists(join(one, "package.json")));
  return path === undefined ? undefined : port.realPath(path);
}

/** What a project declares: the packages of its workspace, its dependencies and those of the workspace's root. */
export function declaredFolders(
  port: DiscoveryPort,
  { directory, manifest }: Project,
  workspace: Workspace | undefined,
): PackageFolder[] {
  const root = workspace?.root ?? directory;
  const own = declaredDependencies(manifest);
  const ofRoot = root === directory ? [] : [...declaredDependencies(readUsableManifest(port, root))];
  const others = workspace ? [root, ...workspace.members].filter((location) => location !== directory) : [];
  return [
    ...others.map((path): PackageFolder => ({ name: undefined, origin: "workspace", paths: [path] })),
    ...packageFolders(port, directory, own, "direct"),
    ...packageFolders(
      port,
      root,
      ofRoot.filter((name) => !own.has(name)),
      "direct",
    ),
  ];
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

/** Whether anything is installed for the project or its workspace. */
export function hasInstalledPackages(port: DiscoveryPort, folders: readonly string[]): boolean {
  return folders.some((folder) =>
    port.listDirectory(join(folder, "node_modules"))?.some(({ name }) => !name.startsWith(".")),
  );
}

/**
 * Finds the file of Yarn Plug'n'Play or of Deno in a project whose dependencies are not in node_modules. Files above the
 * workspace of a project with its own node_modules belong to another project.
 */
export function findUnsupportedLayouts(
  port: DiscoveryPort,
  { directory, manifest }: Project,
  workspace: Workspace | undefined,
): { layout: "pnp" | "deno"; file: string }[] {
  const root = workspace?.root ?? directory;
  const has = (folder: string) => port.exists(join(folder, "node_modules"));
  const above = [...ancestorsOf(directory)];
  const own = has(directory) ? above.slice(0, above.indexOf(root) + 1) : above;
  const pnp = own.flatMap((folder) => findProjectFile(port, folder, [".pnp.cjs", ".pnp.js"]) ?? [])[0];
  const folders =
    has(directory) || has(root) || declaredDependencies(manifest).size === 0 ? [] : [directory, root];
  const deno = folders.flatMap((folder) => findProjectFile(port, folder, denoFiles) ?? [])[0];
  return [
    ...(pnp === undefined ? [] : [{ layout: "pnp" as const, file: pnp }]),
    ...(deno === undefined ? [] : [{ layout: "deno" as const, file: deno }]),
  ];
}
