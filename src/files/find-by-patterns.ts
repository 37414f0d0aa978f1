import * as fs from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type WorkspaceBudget,
  type WorkspaceObstacle,
  type WorkspaceSearch,
  workspaceLimits,
} from "./discovery-port.ts";
import { countAlternatives, measureGlob, stepsToPrepare } from "./glob-cost.ts";

/** What compiling one pattern costs, as measured. fast-glob may compile all excluding ones for each of the others. */
const stepsToCompile = 300;
/** What an entry of a folder costs before it is compared with anything. */
const stepsPerEntry = 30;

interface SelectedPattern {
  index: number;
  pattern: string;
  alternatives: number;
  isExclusion: boolean;
  measure: (longest: number, depth: number) => number;
}

/** The patterns within the limits that each has for itself; why the others are not. */
function selectPatterns(patterns: readonly string[]) {
  const selected: SelectedPattern[] = [];
  const obstacles: WorkspaceObstacle[] = [];
  let total = 0;
  for (const [index, pattern] of patterns.entries()) {
    // No package manager takes one, and what it leads to is not below the root.
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

/** Takes from the budget what compiling the patterns costs; those that it is not enough for are left out. */
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

/** Ends the reading of folders; what was found until then stays. */
class Stopped extends Error {}

/** The file system as fast-glob sees it: folders on a budget, and no links to what lies above them. */
class BudgetedFolders {
  /** Patterns that one folder would take too many steps for. */
  readonly tooCostly = new Set<SelectedPattern>();
  /** What the budget was not enough for. */
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
      const entries = fs.readdirSync(folder, options);
      this.#payFor(
        folder,
        entries.map(({ name }) => name),
      );
      return entries;
    }) as typeof fs.readdirSync,
    statSync: ((path: string) => {
      // Of circles, fast-glob would go through every round that the patterns allow.
      const real = fs.realpathSync.native(path);
      if (`${dirname(path)}/`.startsWith(`${real}/`)) throw new Stopped();
      return fs.statSync(path);
    }) as typeof fs.statSync,
  };

  /** Takes from the budget what comparing the entries of a folder costs. */
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

/** Folders below `root` with a package.json that match patterns of any form, as far as the budget goes. */
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
      // Whatever a package.json turns out to be, a member that has one is looked at. The streams would throw where
      // nothing can catch it.
      manifests = fastGlob.sync(
        paid.map(({ pattern }) => `${pattern.replace(/(?<!\/)\/+$/, "")}/package.json`),
        {
          cwd: root,
          fs: folders.methods,
          ignore: ["**/node_modules/**"],
          onlyFiles: false,
          // Only a pattern of any depth could be led in circles.
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
