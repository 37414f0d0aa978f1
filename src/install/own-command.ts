import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
