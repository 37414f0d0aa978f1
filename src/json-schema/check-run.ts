import type { Violation } from "./describe-violation.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { Resource } from "./schema-references.ts";

/** Limit on recorded violations: nested alternatives may have many. */
const mostViolations = 1000;

/** Thrown if enough violations are recorded. */
export class EnoughViolations extends Error {}

/** The resources on the path of references to the current schema, innermost first. */
export interface DynamicScope {
  resource: Resource;
  outer: DynamicScope | undefined;
}

/** The evaluated properties and items of one value. */
export class Evaluated {
  hasAllProperties = false;
  readonly properties = new Set<string>();
  /** The number of evaluated items at the start; `Infinity` for all. */
  items = 0;

  add(other: Evaluated): void {
    this.hasAllProperties ||= other.hasAllProperties;
    this.items = Math.max(this.items, other.items);
    for (const name of other.properties) this.properties.add(name);
  }
}

/** The state of one check, which every rule receives. */
export class CheckRun {
  /** Whether all violations are recorded; otherwise, the check ends at the first, and adds defaults. */
  records = false;
  /** Whether the schema is only tried, as in `anyOf`, so that no defaults are added. */
  isTentative = false;
  scope: DynamicScope | undefined;
  readonly violations: Violation[] = [];
  /** The path of the current value, which is maintained only if violations are recorded. */
  readonly #path: (string | number)[] = [];

  /** Returns `false`, and records the violation. */
  fail(what: string | (() => string), { at, isMissing = false }: { at?: string; isMissing?: boolean } = {}) {
    if (!this.records) return false;
    const path = at === undefined ? [...this.#path] : [...this.#path, at];
    this.violations.push({ path, what: typeof what === "string" ? what : what(), isMissing });
    if (this.violations.length >= mostViolations) throw new EnoughViolations();
    return false;
  }

  /** Checks a part of a value and maintains the path. If violations are not recorded, `node.check` is enough. */
  enter(node: SchemaNode, key: string | number, part: unknown): boolean {
    this.#path.push(key);
    const isValid = node.check(part, this, undefined);
    this.#path.pop();
    return isValid;
  }

  /** Tries a schema without recording violations or adding defaults. */
  try(node: SchemaNode, value: unknown, evaluated: Evaluated | undefined): boolean {
    const { records, isTentative } = this;
    this.records = false;
    this.isTentative = true;
    const isValid = node.check(value, this, evaluated);
    this.records = records;
    this.isTentative = isTentative;
    return isValid;
  }

  /** Records the violations of a schema that a value, or a part of it, did not match. */
  explain(node: SchemaNode, value: unknown, key?: string | number): void {
    if (!this.records) return;
    const { isTentative } = this;
    this.isTentative = true;
    if (key === undefined) node.check(value, this, undefined);
    else this.enter(node, key, value);
    this.isTentative = isTentative;
  }
}

/** Finds the first violations. */
export function findViolations(node: SchemaNode, value: unknown, run: CheckRun): readonly Violation[] {
  run.records = true;
  try {
    node.check(value, run, undefined);
  } catch (error) {
    // Earlier violations are enough.
    if (!(error instanceof EnoughViolations || run.violations.length > 0)) throw error;
  }
  return run.violations;
}
