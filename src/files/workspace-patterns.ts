import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import {
  type WorkspaceBudget,
  type WorkspaceObstacle,
  type WorkspaceSearch,
  workspaceLimits,
} from "./discovery-port.ts";

/** `tools/cli` or `packages/*`: the patterns of nearly every workspace, which need no library. */
const plainPattern = /^(?:\.\/)?([\w@-][\w@.-]*(?:\/[\w@-][\w@.-]*)*(?:\/\*)?)\/?$/;

/** The path of a plain pattern; `undefined` for other patterns. */
function plainPath(pattern: string): string | undefined {
  const path = plainPattern.exec(pattern)?.[1];
  return path?.split("/").includes("node_modules") ? undefined : path;
}

/** Whether a folder has a package.json, which may be a broken link. */
function hasManifest(folder: string): boolean {
  try {
    return lstatSync(join(folder, "package.json"), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function listMembers(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith(".") && name !== "node_modules");
  } catch {
    return [];
  }
}

/** Finds the folders that the paths of plain patterns name, each once. */
function findPlain(root: string, paths: readonly string[], budget: WorkspaceBudget): WorkspaceSearch {
  const folders: string[] = [];
  for (const path of new Set(paths)) {
    const [parent, last] = [join(root, dirname(path)), basename(path)];
    const names = last === "*" ? listMembers(parent) : [last];
    const members = names.slice(0, Math.max(0, budget.folders)).map((name) => join(parent, name));
    folders.push(...members.filter(hasManifest));
    budget.folders -= 1 + names.length;
  }
  return { folders, obstacles: budget.folders < 0 ? [{ cause: "folders" }] : [] };
}

/** Groups, ranges, quantifiers and quotes: what takes picomatch exponential time, or braces out of this file's count. */
const exoticSyntax = /[@!+*?]\(|[|+"'`]|\)[*?]|\.\.[^/{}]*\}/;

/** An upper bound of the number of patterns after brace expansion; `undefined` if matching may take exponential time. */
function countAlternatives(pattern: string): number | undefined {
  const segments = pattern.split("/");
  const isSimple =
    pattern.length <= 1024 &&
    !exoticSyntax.test(pattern) &&
    segments.filter((segment) => segment === "**").length <= 2 &&
    segments.every((segment) => (segment.match(/\*+/g)?.length ?? 0) <= 2);
  if (!isSimple) return undefined;
  const groups = pattern.split("{").length - 1;
  // The product is largest if the commas are distributed equally among the groups.
  return groups === 0 ? 1 : (1 + (pattern.split(",").length - 1) / groups) ** groups;
}

/** Selects the patterns that a library can match within the limits, and reports the others. */
function selectPatterns(patterns: readonly string[]) {
  const selected: string[] = [];
  const obstacles: WorkspaceObstacle[] = [];
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    // Package managers ignore absolute patterns, too.
    if (isAbsolute(pattern.replace(/^!/, ""))) continue;
    const alternatives = countAlternatives(pattern);
    if (alternatives === undefined) obstacles.push({ index, cause: "syntax" });
    else if (total + alternatives > workspaceLimits.patterns) obstacles.push({ index, cause: "patterns" });
    else {
      total += alternatives;
      selected.push(`${pattern.replace(/(?<!\/)\/+$/, "")}/package.json`);
    }
  }
  return { selected, obstacles };
}

/** The file system for fast-glob: an error ends a search, and one of links to parent folders hides them. */
function budgetedFolders(budget: WorkspaceBudget) {
  return {
    readdirSync: ((folder: string, options: { withFileTypes: true }) => {
      if (--budget.folders < 0) throw new Error("the budget is spent");
      return readdirSync(folder, options);
    }) as typeof readdirSync,
    statSync: ((path: string) => {
      // fast-glob would follow cyclic links as deep as the patterns allow.
      const real = realpathSync.native(path);
      if (`${dirname(path)}/`.startsWith(`${real}/`)) throw new Error("the link leads to a parent folder");
      return statSync(path);
    }) as typeof statSync,
  };
}

/** Finds folders with a package.json that match any patterns of a workspace, within the budget. Never rejects. */
export async function findWorkspaces(
  root: string,
  patterns: readonly string[],
  budget: WorkspaceBudget,
): Promise<WorkspaceSearch> {
  const paths = patterns.flatMap((pattern) => plainPath(pattern) ?? []);
  if (paths.length === patterns.length) return findPlain(root, paths, budget);
  const { default: fastGlob } = await import("fast-glob");
  const { selected, obstacles } = selectPatterns(patterns);
  try {
    // Synchronous, because the streams would throw uncatchable errors. Includes a package.json that is not a file.
    const manifests = fastGlob.sync(selected, {
      cwd: root,
      fs: budgetedFolders(budget),
      ignore: ["**/node_modules/**"],
      onlyFiles: false,
      // Only patterns of unlimited depth could follow cycles.
      followSymbolicLinks: !selected.some((pattern) => pattern.includes("**")),
      suppressErrors: true,
    });
    if (budget.folders < 0) obstacles.push({ cause: "folders" });
    return { folders: manifests.map((path) => join(root, path, "..")), obstacles };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { folders: [], obstacles: [...obstacles, { cause: "failed", reason }] };
  }
}
