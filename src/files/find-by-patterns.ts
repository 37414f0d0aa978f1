import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type WorkspaceBudget,
  type WorkspaceObstacle,
  type WorkspaceSearch,
  workspaceLimits,
} from "./discovery-port.ts";

/** Limit on the characters of a pattern. */
const maximumLength = 1024;

/** Groups, ranges, quantifiers and quotes: what takes picomatch exponential time, or braces out of this file's count. */
const exoticSyntax = /[@!+*?]\(|[|+"'`]|\)[*?]|\.\.[^/{}]*\}/;

/** Whether matching a pattern takes no more than polynomial time of a low degree. */
function isSimple(pattern: string): boolean {
  const segments = pattern.split("/");
  return (
    pattern.length <= maximumLength &&
    !exoticSyntax.test(pattern) &&
    segments.filter((segment) => segment === "**").length <= 2 &&
    segments.every((segment) => (segment.match(/\*+/g)?.length ?? 0) <= 2)
  );
}

/** An upper bound of the number of patterns after brace expansion. */
function countAlternatives(pattern: string): number {
  const groups = pattern.split("{").length - 1;
  // The product is largest if the commas are distributed equally among the groups.
  return groups === 0 ? 1 : (1 + (pattern.split(",").length - 1) / groups) ** groups;
}

/** Selects the patterns that are simple and within the limit, and reports the others. */
function selectPatterns(patterns: readonly string[]) {
  const selected: string[] = [];
  const obstacles: WorkspaceObstacle[] = [];
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    // Package managers ignore absolute patterns, too.
    if (isAbsolute(pattern.replace(/^!/, ""))) continue;
    const alternatives = isSimple(pattern) ? countAlternatives(pattern) : undefined;
    if (alternatives === undefined) obstacles.push({ index, cause: "syntax" });
    else if (total + alternatives > workspaceLimits.patterns) obstacles.push({ index, cause: "patterns" });
    else {
      total += alternatives;
      selected.push(`${pattern.replace(/(?<!\/)\/+$/, "")}/package.json`);
    }
  }
  return { selected, obstacles };
}

/** Stops reading folders and keeps the results so far. */
class Stopped extends Error {}

/** The file system for fast-glob, with a budget for folders and without links to parent folders. */
function budgetedFolders(budget: WorkspaceBudget) {
  return {
    readdirSync: ((folder: string, options: { withFileTypes: true }) => {
      if (--budget.folders < 0) throw new Stopped();
      return readdirSync(folder, options);
    }) as typeof readdirSync,
    statSync: ((path: string) => {
      // fast-glob would follow cyclic links as deep as the patterns allow.
      const real = realpathSync.native(path);
      if (`${dirname(path)}/`.startsWith(`${real}/`)) throw new Stopped();
      return statSync(path);
    }) as typeof statSync,
  };
}

/** Finds folders below `root` with a package.json that match any patterns, within the budget. */
export async function findByPatterns(
  root: string,
  patterns: readonly string[],
  budget: WorkspaceBudget,
): Promise<WorkspaceSearch> {
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
