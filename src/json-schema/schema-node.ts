import { type CheckRun, Evaluated } from "./check-run.ts";
import type { SchemaPattern } from "./schema-pattern.ts";
import type { Resource } from "./schema-references.ts";
import type { Draft, Schema } from "./schema-survey.ts";

/** One constraint on a value. Returns whether the value satisfies it, and records the evaluated properties and items. */
export type Rule = (value: unknown, run: CheckRun, evaluated: Evaluated | undefined) => boolean;

/** Rules for values of one type, or of all. */
export interface RuleGroup {
  takes: ((value: unknown) => boolean) | undefined;
  /** The violation for other types, if the schema allows only this one. */
  wrongType: string | undefined;
  rules: readonly Rule[];
}

/** The target of a reference. */
export interface Target {
  node: SchemaNode;
  /** For a dynamic reference: finds its target in a resource of the dynamic scope. */
  findIn: ((resource: Resource) => SchemaNode | undefined) | undefined;
}

/** The context for compiling a schema to rules. */
export interface SchemaContext {
  draft: Draft;
  nodeOf(schema: unknown): SchemaNode;
  patternOf(pattern: string): SchemaPattern;
  targetOf(schema: Schema, keyword: string): Target;
}

/** Keywords that can reject a value, directly or through other schemas. */
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

/** A schema. Its rules are compiled at the first check, so that unused schemas cost nothing. */
export class SchemaNode {
  readonly schema: Schema | boolean;
  /** Whether every value is valid. */
  readonly takesAll: boolean;
  /** The resource that this node adds to the dynamic scope, if there are dynamic references. */
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

  /** Applies the rules to a value. Stops at the first violation unless violations are recorded. */
  // One stack frame per schema and value, because nesting of both adds up.
  check(value: unknown, run: CheckRun, evaluated: Evaluated | undefined): boolean {
    this.#groups ??= this.#makeRules();
    const { scope } = run;
    if (this.#resource !== undefined && this.#resource !== scope?.resource)
      run.scope = { resource: this.#resource, outer: scope };
    // `unevaluated…` considers only this schema and its subschemas, not the enclosing ones.
    const own = this.#collects ? new Evaluated() : evaluated;
    let isValid = true;
    groups: for (const { takes, wrongType, rules } of this.#groups) {
      if (takes !== undefined && !takes(value)) {
        if (wrongType === undefined) continue;
        isValid = run.fail(wrongType);
        if (!run.records) break;
        continue;
      }
      for (const rule of rules) {
        if (rule(value, run, own)) continue;
        isValid = false;
        if (!run.records) break groups;
      }
    }
    if (own !== undefined && own !== evaluated) evaluated?.add(own);
    run.scope = scope;
    return isValid;
  }
}
