import { isRecord } from "../data/parse-json.ts";
import { describeViolations, type Violation } from "./describe-violation.ts";
import type { SchemaFault } from "./keywords.ts";
import { readSchema } from "./schema-faults.ts";
import { type Backtrack, createSchemaPattern, PatternLimit, type SchemaPattern } from "./schema-pattern.ts";
import { isAlias, type ReferenceTargets } from "./schema-references.ts";
import { Evaluated, makeRules } from "./schema-rules.ts";
import { type Draft, pathOf, type Schema, surveySchema } from "./schema-survey.ts";

/** Limit on recorded violations: nested alternatives may have many. */
const mostViolations = 1000;

/** Thrown if enough violations are recorded. */
class EnoughViolations extends Error {}

/** The state of one check, which every rule receives. */
export class CheckRun {
  /** Whether all violations are recorded; otherwise, the check ends at the first, and adds defaults. */
  records = false;
  /** Whether the schema is only tried, as in `anyOf`, so that no defaults are added. */
  isTentative = false;
  readonly violations: Violation[] = [];
  readonly #path: (string | number)[] = [];

  /** Returns `false`, and records the violation. */
  fail(what: string | (() => string), missing?: string): false {
    if (!this.records) return false;
    const path = missing === undefined ? [...this.#path] : [...this.#path, missing];
    const isMissing = missing !== undefined;
    this.violations.push({ path, what: typeof what === "string" ? what : what(), isMissing });
    if (this.violations.length >= mostViolations) throw new EnoughViolations();
    return false;
  }

  /** Checks a part of a value and maintains the path. */
  enter(node: SchemaNode, key: string | number, part: unknown): boolean {
    this.#path.push(key);
    const isValid = node.check(part, this, undefined);
    this.#path.pop();
    return isValid;
  }

  /** Tries a schema without adding defaults or, unless `records` says so, recording violations. */
  try(node: SchemaNode, value: unknown, evaluated?: Evaluated, records = false): boolean {
    const before = { records: this.records, isTentative: this.isTentative };
    Object.assign(this, { records, isTentative: true });
    const isValid = node.check(value, this, evaluated);
    Object.assign(this, before);
    return isValid;
  }
}

/** One constraint on a value. Returns whether the value satisfies it, and records the evaluated properties and items. */
export type Rule = (value: unknown, run: CheckRun, evaluated: Evaluated | undefined) => boolean;

/** A rule for values of one type, or of all. */
export interface TypedRule {
  takes: ((value: unknown) => boolean) | undefined;
  rule: Rule;
}

/** The context for compiling a schema to rules. */
export interface SchemaContext {
  draft: Draft;
  nodeOf(schema: unknown): SchemaNode;
  patternOf(pattern: string): SchemaPattern;
  targetOf(schema: Schema, keyword: string): SchemaNode;
}

/** A schema. Its rules are compiled at the first check, so that unused schemas cost nothing. */
export class SchemaNode {
  readonly schema: unknown;
  readonly #context: SchemaContext;
  readonly #collects: boolean;
  #rules: readonly TypedRule[] | undefined;

  constructor(schema: unknown, context: SchemaContext) {
    this.schema = schema;
    this.#context = context;
    this.#collects = isRecord(schema) && ("unevaluatedProperties" in schema || "unevaluatedItems" in schema);
  }

  /** Applies the rules to a value. Stops at the first violation unless violations are recorded. */
  // One stack frame per schema and value, because nesting of both adds up.
  check(value: unknown, run: CheckRun, evaluated: Evaluated | undefined): boolean {
    this.#rules ??= makeRules(this.schema, this.#context);
    // `unevaluated…` considers only this schema and its subschemas, not the enclosing ones.
    const own = this.#collects ? new Evaluated() : evaluated;
    let isValid = true;
    for (const { takes, rule } of this.#rules) {
      if ((takes !== undefined && !takes(value)) || rule(value, run, own)) continue;
      isValid = false;
      if (!run.records) break;
    }
    if (own !== undefined && own !== evaluated) evaluated?.add(own);
    return isValid;
  }
}

/** Compiles a valid schema on demand; without `backtrack`, it does not match patterns that need backtracking. Returns the nodes of the schema itself and of the schemas inside it. */
export function compileSchema(
  draft: Draft,
  targets: ReferenceTargets,
  backtrack?: Backtrack,
): (schema: unknown) => SchemaNode {
  const nodes = new Map<unknown, SchemaNode>();
  const patterns = new Map<string, SchemaPattern>();
  const follow = (from: Schema, by: string) => targets.get(from)?.get(by) ?? true;
  const context: SchemaContext = {
    draft,
    nodeOf(schema) {
      const node = nodes.get(schema) ?? new SchemaNode(schema, context);
      nodes.set(schema, node);
      return node;
    },
    patternOf(pattern) {
      const compiled = patterns.get(pattern) ?? createSchemaPattern(pattern, backtrack);
      patterns.set(pattern, compiled);
      return compiled;
    },
    targetOf(schema, keyword) {
      let target = follow(schema, keyword);
      // Skips chains of aliases, which can be long.
      while (isRecord(target) && isAlias(target)) target = follow(target, "$ref");
      return context.nodeOf(target);
    },
  };
  return context.nodeOf;
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

/**
 * Finds each `default` that its own schema rejects. `what` describes the violations, and the path is that of the default.
 * Returns nothing for an invalid schema, and skips a default that cannot be checked within the limits.
 */
export function findInvalidDefaults(whole: Schema): SchemaFault[] {
  const { draft, schemas } = surveySchema(whole) ?? { schemas: [] };
  const withDefaults = schemas.filter(({ schema }) => Object.hasOwn(schema, "default"));
  if (draft === undefined || withDefaults.length === 0) return [];
  const { faults, references } = readSchema(whole);
  if (faults.length > 0) return [];
  const nodeOf = compileSchema(draft, references.targets);
  return withDefaults.flatMap((placed) => {
    // Checking may add the defaults of inner schemas, as a call does.
    const value = structuredClone(placed.schema.default);
    const node = nodeOf(placed.schema);
    const run = new CheckRun();
    try {
      if (node.check(value, run, undefined)) return [];
      return [
        { what: describeViolations(findViolations(node, value, run)), path: [...pathOf(placed), "default"] },
      ];
    } catch (error) {
      if (error instanceof PatternLimit || error instanceof RangeError) return [];
      throw error;
    }
  });
}
