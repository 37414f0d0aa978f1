import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ancestorsOf } from "../discovery/project.ts";

/**
 * The options of Node with which a package's code finds its dependencies where Yarn Plug'n'Play keeps them; none for a
 * package in a node_modules folder. They run code of the project, in which a package need not be.
 */
export function plugAndPlayOptions(location: string, project = location): string[] {
  const folders = [...ancestorsOf(location), ...ancestorsOf(project)];
  const folder = folders.find((one) => existsSync(join(one, ".pnp.cjs")));
  if (folder === undefined || location.startsWith(join(folder, "node_modules", sep))) return [];
  const loader = join(folder, ".pnp.loader.mjs");
  const forModules = existsSync(loader) ? ["--experimental-loader", pathToFileURL(loader).href] : [];
  return ["--require", join(folder, ".pnp.cjs"), ...forModules];
}

/** Whether a package's code cannot run in this process, because Node was started without these options. */
export const needsPlugAndPlay = (location: string, project: string): boolean =>
  process.versions.pnp === undefined && plugAndPlayOptions(location, project).length > 0;
