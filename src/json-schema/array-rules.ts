import type { CheckRun, Evaluated } from "./check-run.ts";
import type { Rule, SchemaContext, SchemaNode } from "./schema-node.ts";
import type { Schema } from "./schema-survey.ts";
import { findDuplicate } from "./unique-items.ts";

type Items = readonly unknown[];

const tooMany = (limit: number) => `must NOT have more than ${limit} items`;

const addItems = (evaluated: Evaluated | undefined, count: number) => {
  if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, count);
};

const uniqueItemsRule: Rule = (value, run) => {
  const duplicate = findDuplicate(value as Items);
  if (duplicate === undefined) return true;
  const [i, j] = duplicate;
  return run.fail(`must NOT have duplicate items (items ## ${i} and ${j} are identical)`);
};

/** Checks the items from an index on with one schema. */
function checkFrom(start: number, node: SchemaNode, items: Items, run: CheckRun): boolean {
  let isValid = true;
  for (let index = start; index < items.length; index++) {
    const item = items[index];
    if (run.records ? run.enter(node, index, item) : node.check(item, run, undefined)) continue;
    isValid = false;
    if (!run.records) break;
  }
  return isValid;
}

function tupleRule(schemas: Items, context: SchemaContext): Rule {
  const nodes = schemas.map((schema) => context.nodeOf(schema));
  return (value, run, evaluated) => {
    const items = value as Items;
    addItems(evaluated, nodes.length);
    let isValid = true;
    for (const [index, node] of nodes.entries()) {
      if (index >= items.length) break;
      if (node.takesAll || run.enter(node, index, items[index])) continue;
      isValid = false;
      if (!run.records) break;
    }
    return isValid;
  };
}

/** A rule for the items after those with individual schemas. */
function restRule(node: SchemaNode, start: number): Rule {
  return (value, run, evaluated) => {
    addItems(evaluated, Infinity);
    const items = value as Items;
    if (node.takesAll || items.length <= start) return true;
    // With a schema of `false`, the rule is a limit on the length.
    if (node.schema === false && start > 0) return run.fail(tooMany(start));
    return checkFrom(start, node, items, run);
  };
}

function containsRule(node: SchemaNode, least: number, most: number): Rule {
  const what =
    most === Infinity
      ? `must contain at least ${least} valid item(s)`
      : `must contain at least ${least} and no more than ${most} valid item(s)`;
  return (value, run, evaluated) => {
    const items = value as Items;
    if (!node.takesAll) addItems(evaluated, Infinity);
    let count = 0;
    for (const item of items) {
      // Stop once the result is known.
      if (count > most || (count >= least && most === Infinity)) break;
      if (node.takesAll || run.try(node, item, undefined)) count++;
    }
    if (count >= least && count <= most) return true;
    if (run.records) for (const [index, item] of items.entries()) run.explain(node, item, index);
    return run.fail(what);
  };
}

function unevaluatedItemsRule(node: SchemaNode): Rule {
  return (value, run, evaluated) => {
    const items = value as Items;
    const start = evaluated?.items ?? 0;
    addItems(evaluated, Infinity);
    if (node.takesAll || items.length <= start) return true;
    return node.schema === false ? run.fail(tooMany(start)) : checkFrom(start, node, items, run);
  };
}

function containsRules({ contains, minContains, maxContains }: Schema, context: SchemaContext): Rule[] {
  if (contains === undefined) return [];
  const counts = context.draft === "draft2020";
  const least = counts && typeof minContains === "number" ? minContains : 1;
  const most = counts && typeof maxContains === "number" ? maxContains : Infinity;
  if (least === 0 && most === Infinity) return [];
  return [containsRule(context.nodeOf(contains), least, most)];
}

/** Rules for arrays. */
export function arrayRules(schema: Schema, context: SchemaContext): Rule[] {
  const { uniqueItems, maxItems, minItems, prefixItems, items, additionalItems, unevaluatedItems } = schema;
  const isModern = context.draft === "draft2020";
  const tuple = isModern ? prefixItems : items;
  const rest = isModern ? items : Array.isArray(items) ? additionalItems : items;
  const rules: Rule[] = [];
  // Before defaults are added to the items.
  if (uniqueItems === true) rules.push(uniqueItemsRule);
  if (typeof maxItems === "number") {
    rules.push((value, run) => (value as Items).length <= maxItems || run.fail(tooMany(maxItems)));
  }
  if (typeof minItems === "number") {
    const what = `must NOT have fewer than ${minItems} items`;
    rules.push((value, run) => (value as Items).length >= minItems || run.fail(what));
  }
  const inPlaces: readonly unknown[] = Array.isArray(tuple) ? tuple : [];
  const ofRest = rest === undefined ? [] : [restRule(context.nodeOf(rest), inPlaces.length)];
  const ofPlaces = inPlaces.length === 0 ? [] : [tupleRule(inPlaces, context)];
  rules.push(
    ...(isModern ? [...ofPlaces, ...ofRest] : [...ofRest, ...ofPlaces]),
    ...containsRules(schema, context),
  );
  if (isModern && unevaluatedItems !== undefined)
    rules.push(unevaluatedItemsRule(context.nodeOf(unevaluatedItems)));
  return rules;
}
