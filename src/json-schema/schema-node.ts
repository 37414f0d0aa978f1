import { type CheckRun, Evaluated } from "./check-run.ts";
import type { SchemaPattern } from "./schema-pattern.ts";
import type { Resource } from "./schema-references.ts";
import type { Draft, Schema } from "./schema-survey.ts";

/** One thing that a schema asks of a value. Gives whether the value has it, and notes what it has looked at. */
export type Rule = (value: unknown, run: CheckRun, evaluated: Evaluated | undefined) => boolean;

/** Rules for values of one type, or of all. */
export interface RuleGroup {
  takes: ((value: unknown) => boolean) | undefined;
  /** What is wrong with a value that is not taken, where the schema allows no other type. */
  wrongType: string | undefined;
  rules: readonly Rule[];
}

/** Where a reference leads. */
export interface Target {
  node: SchemaNode;
  /** For a dynamic reference: the node that it means in a resource through which the check came. */
  findIn: ((resource: Resource) => SchemaNode | undefined) | undefined;
}

/** What making rules of a schema needs of the whole. */
export interface SchemaContext {
  draft: Draft;
  nodeOf(schema: unknown): SchemaNode;
  patternOf(pattern: string): SchemaPattern;
  targetOf(schema: Schema, keyword: string): Target;
}

/** Keywords that can refuse a value by themselves, or make others do so. */
const ruleKeywords: ReadonlySet<string> = new Set([
  ...["type", "const", "enum", "$ref", "$dynamicRef", "$recursiveRef"],
  ...["not", "anyOf", "oneOf", "allOf", "if"],
  ...["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"],
  ...["maxLength", "minLength", "pattern"],
  ...["maxItems", "minItems", "uniqueItems", "prefixItems", "items", "additionalItems", "contains"],
  ...["maxProperties", "minProperties", "required", "propertyNames", "properties", "patternProperties"],
  ...["additionalProperties", "dependencies", "dependentRequired", "dependentSchemas"],
  ...["unevaluatedProperties", "unevaluatedItems"],
]);

/** A schema. Its rules are made when a value first meets it, so that no schema costs more than what is used of it. */
export class SchemaNode {
  readonly schema: Schema | boolean;
  /** Whether no value can break it. */
  readonly takesAll: boolean;
  /** Where dynamic references are: what they are looked for in behind this node. */
  readonly #resource: Resource | undefined;
  readonly #makeRules: () => readonly RuleGroup[];
  readonly #collects: boolean;
  #groups: readonly RuleGroup[] | undefined;

  constructor(
    schema: Schema | boolean,
    resource: Resource | undefined,
    makeRules: () => readonly RuleGroup[],
  ) {
    this.schema = schema;
    const keywords = typeof schema === "boolean" ? [] : Object.keys(schema);
    this.takesAll = schema !== false && !keywords.some((keyword) => ruleKeywords.has(keyword));
    this.#collects = keywords.includes("unevaluatedProperties") || keywords.includes("unevaluatedItems");
    this.#resource = resource;
    this.#makeRules = makeRules;
  }

  /** Applies its rules to a value: up to the first that it breaks, unless all are wanted. */
  // One frame of the stack: schemas inside each other and values inside each other add up.
  check(value: unknown, run: CheckRun, evaluated: Evaluated | undefined): boolean {
    this.#groups ??= this.#makeRules();
    const { scope } = run;
    if (this.#resource !== undefined && this.#resource !== scope?.resource)
      run.scope = { resource: this.#resource, outer: scope };
    // It sees what it has looked at itself, and not what the schemas around it have.
    const own = this.#collects ? new Evaluated() : evaluated;
    let isValid = true;
    run.budget.spend(1 + this.#groups.length);
    groups: for (const { takes, wrongType, rules } of this.#groups) {
      if (takes !== undefined && !takes(value)) {
        if (wrongType === undefined) continue;
        isValid = run.fail(wrongType);
        if (run.mode !== "all") break;
        continue;
      }
      run.budget.spend(rules.length);
      for (const rule of rules) {
        if (rule(value, run, own)) continue;
        isValid = false;
        if (run.mode !== "all") break groups;
      }
    }
    if (own !== undefined && own !== evaluated) evaluated?.add(own, run.budget);
    run.scope = scope;
    return isValid;
  }
}
