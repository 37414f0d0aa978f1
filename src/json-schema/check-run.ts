import type { CheckBudget } from "./check-budget.ts";
import type { Violation } from "./describe-violation.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { Resource } from "./schema-references.ts";

/** Violations that are kept; alternatives inside each other have many. */
const mostViolations = 1000;

/** Thrown where enough is known of what is wrong. */
export class EnoughViolations extends Error {}

export type Mode =
  /** Says whether the value fits, and fills in defaults. */
  | "test"
  /** Keeps the first violation, with those of each alternative. */
  | "first"
  /** Keeps all violations. */
  | "all";

/** Resources of a schema through which references led to where a check is, the inmost first. */
export interface DynamicScope {
  resource: Resource;
  outer: DynamicScope | undefined;
}

/** The properties and items of one value that a schema has looked at. */
export class Evaluated {
  hasAllProperties = false;
  readonly properties = new Set<string>();
  /** How many items from the first, `Infinity` for all. */
  items = 0;

  add(other: Evaluated, budget: CheckBudget): void {
    this.hasAllProperties ||= other.hasAllProperties;
    this.items = Math.max(this.items, other.items);
    budget.spend(other.properties.size);
    for (const name of other.properties) this.properties.add(name);
  }
}

/** One check of a value, which every rule is handed. */
export class CheckRun {
  readonly budget: CheckBudget;
  mode: Mode = "test";
  /** Whether the schema is only tried, as in `anyOf`: no defaults are filled in. */
  isTentative = false;
  scope: DynamicScope | undefined;
  readonly violations: Violation[] = [];
  /** Keys from the top to the value that is checked; kept up only where violations are. */
  readonly #path: (string | number)[] = [];

  constructor(budget: CheckBudget) {
    this.budget = budget;
  }

  /** Gives `false`, and keeps what is wrong where that is wanted. */
  fail(what: string | (() => string), { at, isMissing = false }: { at?: string; isMissing?: boolean } = {}) {
    if (this.mode === "test") return false;
    const path = at === undefined ? [...this.#path] : [...this.#path, at];
    this.budget.spend(path.length);
    this.violations.push({ path, what: typeof what === "string" ? what : what(), isMissing });
    if (this.violations.length >= mostViolations) throw new EnoughViolations();
    return false;
  }

  /** Checks a part of a value, which has a path of its own. Where only the answer counts, `node.check` gives it. */
  enter(node: SchemaNode, key: string | number, part: unknown): boolean {
    this.#path.push(key);
    const isValid = node.check(part, this, undefined);
    this.#path.pop();
    return isValid;
  }

  /** Tries a schema: keeps no violation, and fills in no defaults. */
  try(node: SchemaNode, value: unknown, evaluated: Evaluated | undefined): boolean {
    const { mode, isTentative } = this;
    this.mode = "test";
    this.isTentative = true;
    const isValid = node.check(value, this, evaluated);
    this.mode = mode;
    this.isTentative = isTentative;
    return isValid;
  }

  /** Keeps what a value, or the part of it that has a key, breaks of a schema that it did not match. */
  explain(node: SchemaNode, value: unknown, key?: string | number): void {
    if (this.mode === "test") return;
    const { isTentative } = this;
    this.isTentative = true;
    if (key === undefined) node.check(value, this, undefined);
    else this.enter(node, key, value);
    this.isTentative = isTentative;
  }
}
