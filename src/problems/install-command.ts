/** The package managers whose commands appear in hints. */
export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

/** The command that adds a package to a project, or without a package installs its dependencies. */
export function formatInstall(manager: PackageManager = "npm", spec?: string): string {
  if (spec === undefined) return `${manager} install`;
  const word = /^[\w@./~-]+$/.test(spec) ? spec : `"${spec}"`;
  return `${manager} ${manager === "npm" ? "install" : "add"} ${word}`;
}

/** The command that shows which packages depend on a package. */
export function formatWhy(manager: PackageManager = "npm", name: string): string {
  return manager === "npm" ? `npm ls ${name}` : `${manager} why ${name}`;
}
