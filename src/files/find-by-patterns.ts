import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type WorkspaceBudget,
  type WorkspaceObstacle,
  type WorkspaceSearch,
  workspaceLimits,
} from "./discovery-port.ts";
import { countAlternatives, measureGlob, stepsToPrepare } from "./glob-cost.ts";

/** The measured cost of compiling one pattern. fast-glob may compile all exclusions for each other pattern. */
const stepsToCompile = 300;
/** The base cost of an entry of a folder. */
const stepsPerEntry = 30;

interface SelectedPattern {
  index: number;
  pattern: string;
  alternatives: number;
  isExclusion: boolean;
  measure: (longest: number, depth: number) => number;
}

/** Selects the patterns within the individual limits, and reports the others. */
function selectPatterns(patterns: readonly string[]) {
  const selected: SelectedPattern[] = [];
  const obstacles: WorkspaceObstacle[] = [];
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    // Package managers ignore absolute patterns, too.
    if (isAbsolute(pattern.replace(/^!/, ""))) continue;
    const isTooLong = pattern.length > workspaceLimits.length;
    const alternatives = isTooLong ? 0 : countAlternatives(pattern);
    if (isTooLong || total + alternatives > workspaceLimits.alternatives) {
      obstacles.push({ index, cause: isTooLong ? "length" : "alternatives" });
      continue;
    }
    total += alternatives;
    selected.push({
      index,
      pattern,
      alternatives,
      isExclusion: pattern.startsWith("!"),
      measure: measureGlob(pattern),
    });
  }
  return { selected, obstacles };
}

/** Takes the cost of compiling the patterns from the budget. Excludes those that exceed it. */
function payForCompiling(
  selected: readonly SelectedPattern[],
  budget: WorkspaceBudget,
): { paid: SelectedPattern[]; obstacles: WorkspaceObstacle[] } {
  const paid: SelectedPattern[] = [];
  const obstacles: WorkspaceObstacle[] = [];
  const count = { exclusions: 0, others: 0 };
  for (const one of selected) {
    const { pattern, alternatives, isExclusion, index } = one;
    const times = 1 + (isExclusion ? count.others : count.exclusions);
    const steps = stepsToPrepare(pattern) + stepsToCompile * alternatives * times;
    if (steps > budget.steps) {
      obstacles.push({ index, cause: "steps" });
      continue;
    }
    budget.steps -= steps;
    count[isExclusion ? "exclusions" : "others"] += alternatives;
    paid.push(one);
  }
  return { paid, obstacles };
}

/** Stops reading folders and keeps the results so far. */
class Stopped extends Error {}

/** The file system for fast-glob, with a budget for folders and without links to parent folders. */
class BudgetedFolders {
  /** Patterns that take too many steps for one folder. */
  readonly tooCostly = new Set<SelectedPattern>();
  /** The exceeded limit of the budget. */
  spent: "folders" | "steps" | undefined;
  readonly #root: string;
  readonly #patterns: readonly SelectedPattern[];
  readonly #budget: WorkspaceBudget;
  readonly #known = new Map<string, number>();

  constructor(root: string, patterns: readonly SelectedPattern[], budget: WorkspaceBudget) {
    this.#root = root;
    this.#patterns = patterns;
    this.#budget = budget;
  }

  get isStopped(): boolean {
    return this.spent !== undefined || this.tooCostly.size > 0;
  }

  readonly methods = {
    readdirSync: ((folder: string, options: { withFileTypes: true }) => {
      if (!this.isStopped && --this.#budget.folders < 0) this.spent = "folders";
      if (this.isStopped) throw new Stopped();
      const entries = readdirSync(folder, options);
      this.#payFor(
        folder,
        entries.map(({ name }) => name),
      );
      return entries;
    }) as typeof readdirSync,
    statSync: ((path: string) => {
      // fast-glob would follow cyclic links as deep as the patterns allow.
      const real = realpathSync.native(path);
      if (`${dirname(path)}/`.startsWith(`${real}/`)) throw new Stopped();
      return statSync(path);
    }) as typeof statSync,
  };

  /** Takes the cost of comparing the entries of a folder from the budget. */
  #payFor(folder: string, names: readonly string[]): void {
    if (names.length === 0) return;
    const path = folder.startsWith(this.#root) ? folder.slice(this.#root.length) : folder;
    const segments = path.split(/[\\/]/);
    const longest = [...names, ...segments].reduce((most, { length }) => Math.max(most, length), 0);
    const depth = segments.length + 1;
    const key = `${longest} ${depth}`;
    let each = this.#known.get(key);
    if (each === undefined) {
      each = this.#patterns.reduce((sum, { measure }) => sum + measure(longest, depth), stepsPerEntry);
      this.#known.set(key, each);
    }
    const steps = each * names.length;
    if (steps <= this.#budget.steps) {
      this.#budget.steps -= steps;
      return;
    }
    for (const one of this.#patterns) {
      if (one.measure(longest, depth) * names.length > this.#budget.steps) this.tooCostly.add(one);
    }
    if (this.tooCostly.size === 0) this.spent = "steps";
    throw new Stopped();
  }
}

/** Finds folders below `root` with a package.json that match any patterns, within the budget. */
export async function findByPatterns(
  root: string,
  patterns: readonly string[],
  budget: WorkspaceBudget,
): Promise<WorkspaceSearch> {
  const { default: fastGlob } = await import("fast-glob");
  const { selected, obstacles } = selectPatterns(patterns);
  let left = selected;
  for (;;) {
    const { paid, obstacles: unpaid } = payForCompiling(left, budget);
    obstacles.push(...unpaid);
    const folders = new BudgetedFolders(root, paid, budget);
    let manifests: string[];
    try {
      // Synchronous, because the streams would throw uncatchable errors. Includes a package.json that is not a file.
      manifests = fastGlob.sync(
        paid.map(({ pattern }) => `${pattern.replace(/(?<!\/)\/+$/, "")}/package.json`),
        {
          cwd: root,
          fs: folders.methods,
          ignore: ["**/node_modules/**"],
          onlyFiles: false,
          // Only patterns of unlimited depth could follow cycles.
          followSymbolicLinks: !paid.some(({ pattern }) => pattern.includes("**")),
          suppressErrors: true,
        },
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { folders: [], obstacles: [...obstacles, { cause: "failed", reason }] };
    }
    for (const { index } of folders.tooCostly) obstacles.push({ index, cause: "steps" });
    if (folders.tooCostly.size === 0) {
      if (folders.spent !== undefined) obstacles.push({ cause: folders.spent });
      return { folders: manifests.map((path) => join(root, path, "..")), obstacles };
    }
    left = paid.filter((one) => !folders.tooCostly.has(one));
  }
}
