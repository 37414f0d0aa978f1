import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { ancestorsOf } from "../../discovery/project.ts";

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The folder that GitHub Actions checked a repository out into, symbolic links followed. */
function findGithubWorkspace(): string | undefined {
  const path = process.env.GITHUB_WORKSPACE;
  return path && existsSync(path) ? realpathSync(path) : undefined;
}

/**
 * The folder to which paths in a report for machines are relative: `GITHUB_WORKSPACE` if it contains the pack, otherwise the
 * root of the pack's repository, or `cwd` outside a repository.
 */
export function findReportBase(location: string, cwd: string): string {
  const workspace = findGithubWorkspace();
  if (workspace !== undefined && contains(workspace, location)) return workspace;
  return [...ancestorsOf(location)].find((folder) => existsSync(join(folder, ".git"))) ?? cwd;
}
