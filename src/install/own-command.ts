import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ancestorsOf } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { findPackageFolder } from "../inspection/server-package.ts";

/** The folder of this package, found from the bundle that contains this module. */
export function findOwnPackage(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "trailblaze")
      return folder;
    if (folder === dirname(folder)) return folder;
  }
}

/**
 * Absolute path of the command's script. Prefers the project's link to this package, because the paths in stores of package
 * managers contain the version.
 */
export function findOwnScript(project: string): string {
  const script = "dist/cli/cli.cjs";
  const own = findOwnPackage();
  const linked = join(project, "node_modules/trailblaze");
  try {
    if (realpathSync(linked) === realpathSync(own)) return join(linked, script);
  } catch {
    // The project does not depend on this package.
  }
  return join(own, script);
}

/**
 * Whether code in the project can resolve the package `trailblaze`, and the path from the project to the program of Yarn
 * Plug'n'Play that it needs for that.
 */
export function findOwnCopy(project: string): { exists: boolean; pnp?: string } {
  const folders = [...ancestorsOf(project)];
  if (folders.some((folder) => existsSync(join(folder, "node_modules/trailblaze/package.json"))))
    return { exists: true };
  const file = folders.map((folder) => join(folder, ".pnp.cjs")).find((one) => existsSync(one));
  if (file === undefined) return { exists: false };
  const exists = findPackageFolder(createNodeInspectionPort(), project, "trailblaze") !== undefined;
  return { exists, pnp: `./${relative(project, file).split(sep).join("/")}` };
}
