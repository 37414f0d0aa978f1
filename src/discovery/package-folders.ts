import { join, sep } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import type { PackageFolder } from "./manifest.ts";
import { ancestorsOf, declaredDependencies, findProjectFile } from "./project.ts";
import type { Origin } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/** Where Node looks for packages from a folder. Names that npm does not allow are passed over. */
export function packageFolders(
  port: DiscoveryPort,
  directory: string,
  names: readonly string[],
  origin: Origin,
): PackageFolder[] {
  if (names.length === 0) return [];
  const parents = [...ancestorsOf(directory)]
    .map((folder) => join(folder, `node_modules${sep}`))
    .filter(port.exists);
  return [...new Set(names)]
    .filter(isPackageName)
    .map((name) => ({ name, origin, paths: parents.map((parent) => parent + name) }));
}

export function locate(port: DiscoveryPort, folder: PackageFolder | undefined): string | undefined {
  const path = folder?.paths.find((one) => port.exists(join(one, "package.json")));
  return path === undefined ? undefined : port.realPath(path);
}

/** Resolves like Node: to the nearest node_modules with a package of this name. */
export const resolveFrom = (port: DiscoveryPort, directory: string, name: string): string | undefined =>
  locate(port, packageFolders(port, directory, [name], "direct")[0]);

/** What a project declares: the packages of its workspace, its dependencies and those of the workspace's root. */
export function declaredFolders(port: DiscoveryPort, workspace: Workspace): PackageFolder[] {
  const { root, members } = workspace;
  const { directory, manifest } = workspace.project;
  const own = declaredDependencies(manifest);
  const inherited = [...declaredDependencies(workspace.manifest)].filter((name) => !own.has(name));
  return [
    ...[root, ...members]
      .filter((location) => location !== directory)
      .map((path): PackageFolder => ({ name: undefined, origin: "workspace", paths: [path] })),
    ...packageFolders(port, directory, [...own], "direct"),
    ...packageFolders(port, root, inherited, "direct"),
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

/**
 * Reports the file of Yarn Plug'n'Play or of Deno in a project whose dependencies are not in node_modules. Files above the
 * workspace of a project with its own node_modules belong to another project.
 */
export function findUnsupportedLayouts(port: DiscoveryPort, { root, project }: Workspace): Problem[] {
  const { directory, manifest } = project;
  const has = (folder: string) => port.exists(join(folder, "node_modules"));
  const above = [...ancestorsOf(directory)];
  const own = has(directory) ? above.slice(0, above.indexOf(root) + 1) : above;
  const isAbsent = !has(directory) && !has(root) && declaredDependencies(manifest).size > 0;
  const pnp = findProjectFile(port, own, [".pnp.cjs", ".pnp.js"]);
  const denoFiles = ["deno.json", "deno.jsonc", "deno.lock"] as const;
  const deno = isAbsent ? findProjectFile(port, [directory, root], denoFiles) : undefined;
  return [
    pnp === undefined ? [] : createProblem("UnsupportedLayout", { layout: "pnp", file: pnp }),
    deno === undefined ? [] : createProblem("UnsupportedLayout", { layout: "deno", file: deno }),
  ].flat();
}
