import { type CheckRun, Evaluated } from "./check-run.ts";
import type { Rule, SchemaContext, SchemaNode, Target } from "./schema-node.ts";
import type { Schema } from "./schema-survey.ts";

/** Resolves a reference. A dynamic one resolves to the outermost resource with its anchor. */
function resolveTarget({ node, findIn }: Target, run: CheckRun): SchemaNode {
  let found = node;
  if (findIn === undefined) return found;
  for (let scope = run.scope; scope !== undefined; scope = scope.outer) {
    found = findIn(scope.resource) ?? found;
  }
  return found;
}

const referringKeywords: ReadonlySet<string> = new Set([
  ...["$ref", "$recursiveRef", "$recursiveAnchor", "$dynamicRef", "$dynamicAnchor"],
]);
const referring = new WeakMap<object, boolean>();

/** Whether a schema contains a reference at any depth. */
function refersOn(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const known = referring.get(value);
  if (known !== undefined) return known;
  const refers = Object.entries(value).some(
    ([key, inner]) => (referringKeywords.has(key) && !Array.isArray(value)) || refersOn(inner),
  );
  referring.set(value, refers);
  return refers;
}

function referenceRule(target: Target): Rule {
  return (value, run, evaluated) => {
    const node = resolveTarget(target, run);
    if (!run.isTentative || !refersOn(node.schema)) return node.check(value, run, evaluated);
    // Schemas with references get defaults even tentatively, because they may require a default value.
    run.isTentative = false;
    const isValid = node.check(value, run, evaluated);
    run.isTentative = true;
    return isValid;
  };
}

function notRule(node: SchemaNode): Rule {
  return (value, run) => !run.try(node, value, undefined) || run.fail("must NOT be valid");
}

/** A rule about the number of matching alternatives. Those that match contribute evaluated properties. */
function alternativesRule(nodes: readonly SchemaNode[], most: number, what: string): Rule {
  return (value, run, evaluated) => {
    const { records, isTentative } = run;
    run.records = false;
    run.isTentative = true;
    let count = 0;
    for (const node of nodes) {
      const own = evaluated && new Evaluated();
      if (!node.check(value, run, own)) continue;
      count++;
      if (own !== undefined) evaluated?.add(own);
      if (count > most || (most === Infinity && evaluated === undefined)) break;
    }
    run.records = records;
    run.isTentative = isTentative;
    if (count > 0 && count <= most) return true;
    for (const node of nodes) run.explain(node, value);
    return run.fail(what);
  };
}

function conditionRule(condition: SchemaNode, then: SchemaNode, otherwise: SchemaNode): Rule {
  return (value, run, evaluated) => {
    if (then.takesAll && otherwise.takesAll && evaluated === undefined) return true;
    const own = evaluated && new Evaluated();
    const holds = run.try(condition, value, own);
    // With `then` but without `else`, the condition contributes evaluated properties even if it does not match.
    const counts = holds || (otherwise.takesAll && !then.takesAll);
    if (own !== undefined && counts) evaluated?.add(own);
    const branch = holds ? then : otherwise;
    return branch.check(value, run, evaluated) || run.fail(`must match "${holds ? "then" : "else"}" schema`);
  };
}

const listOfNodes = (schemas: unknown, context: SchemaContext) =>
  Array.isArray(schemas) ? schemas.map((schema: unknown) => context.nodeOf(schema)) : undefined;

const dynamicKeywords = ["$dynamicRef", "$recursiveRef"] as const;

/** Rules that apply other schemas to the same value. */
export function referenceRules(schema: Schema, context: SchemaContext): Rule[] {
  const rules: Rule[] = [];
  for (const keyword of ["$ref", ...(context.draft === "draft2020" ? dynamicKeywords : [])]) {
    if (schema[keyword] !== undefined) rules.push(referenceRule(context.targetOf(schema, keyword)));
  }
  return rules;
}

/** Rules that combine other schemas for the same value. */
export function alternativeRules(schema: Schema, context: SchemaContext): Rule[] {
  const rules: Rule[] = [];
  if (schema.not !== undefined) rules.push(notRule(context.nodeOf(schema.not)));
  const anyOf = listOfNodes(schema.anyOf, context);
  if (anyOf !== undefined) rules.push(alternativesRule(anyOf, Infinity, "must match a schema in anyOf"));
  const oneOf = listOfNodes(schema.oneOf, context);
  if (oneOf !== undefined) rules.push(alternativesRule(oneOf, 1, "must match exactly one schema in oneOf"));
  for (const node of listOfNodes(schema.allOf, context) ?? []) {
    if (!node.takesAll) rules.push((value, run, evaluated) => node.check(value, run, evaluated));
  }
  if (schema.if !== undefined) {
    const [condition, then, otherwise] = [schema.if, schema.then ?? true, schema.else ?? true].map(
      context.nodeOf,
    );
    rules.push(conditionRule(condition as SchemaNode, then as SchemaNode, otherwise as SchemaNode));
  }
  return rules;
}
