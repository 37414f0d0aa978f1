import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The options of Node with which a package's code finds its dependencies where Yarn Plug'n'Play keeps them; none for a
 * package with a node_modules folder. They run code of the project.
 */
export function plugAndPlayOptions(location: string): string[] {
  for (let folder = location; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, ".pnp.cjs");
    if (!existsSync(file)) continue;
    if (location.startsWith(`${folder}${sep}node_modules${sep}`)) return [];
    const loader = join(folder, ".pnp.loader.mjs");
    const forModules = existsSync(loader) ? ["--experimental-loader", pathToFileURL(loader).href] : [];
    return ["--require", file, ...forModules];
  }
  return [];
}

/** Whether a package's code cannot run in this process, because Node was started without these options. */
export const needsPlugAndPlay = (location: string): boolean =>
  process.versions.pnp === undefined && plugAndPlayOptions(location).length > 0;
