import { isRecord } from "../data/parse-json.ts";
import type { CheckRun } from "./check-run.ts";
import type { Rule, SchemaContext, SchemaNode } from "./schema-node.ts";
import type { Schema } from "./schema-survey.ts";

type Value = Record<string, unknown>;

/** Own and not `undefined`, as in JSON. */
const has = (value: Value, name: string) => value[name] !== undefined && Object.hasOwn(value, name);

const entriesOf = (value: unknown): [string, unknown][] => (isRecord(value) ? Object.entries(value) : []);

/** Above this ratio, iterating over the value's properties is faster than over the schema's. */
const manyProperties = 40;

function countRules({ maxProperties, minProperties }: Schema): Rule[] {
  const limits = [
    { limit: maxProperties, word: "more", fits: (count: number, limit: number) => count <= limit },
    { limit: minProperties, word: "fewer", fits: (count: number, limit: number) => count >= limit },
  ];
  return limits.flatMap(({ limit, word, fits }): Rule[] => {
    if (typeof limit !== "number") return [];
    const what = `must NOT have ${word} than ${limit} properties`;
    return [
      (value, run) => {
        const { length } = Object.keys(value as Value);
        return fits(length, limit) || run.fail(what);
      },
    ];
  });
}

function requiredRule(names: readonly string[]): Rule {
  return (value, run) => {
    let isValid = true;
    for (const name of names) {
      if (has(value as Value, name)) continue;
      isValid = run.fail("is required", { at: name, isMissing: true });
      if (!run.records) break;
    }
    return isValid;
  };
}

function propertyNamesRule(node: SchemaNode): Rule {
  return (value, run) => {
    let isValid = true;
    for (const name of Object.keys(value as Value)) {
      if (run.try(node, name, undefined)) continue;
      run.explain(node, name);
      isValid = run.fail("property name must be valid");
      if (!run.records) break;
    }
    return isValid;
  };
}

function propertiesRule(properties: Schema, context: SchemaContext): Rule {
  const names = Object.keys(properties);
  const checked = names
    .map((name) => ({ name, node: context.nodeOf(properties[name]) }))
    .filter(({ node }) => !node.takesAll);
  // Rejects an alternative before values inside it are looked at.
  const isTag = ({ schema }: SchemaNode) =>
    typeof schema === "object" && (schema.const !== undefined || schema.enum !== undefined);
  const tagsFirst = [...checked].sort((a, b) => Number(isTag(b.node)) - Number(isTag(a.node)));
  const byName = new Map(tagsFirst.map((one) => [one.name, one]));
  const findPresent = (value: Value) => Object.keys(value).flatMap((name) => byName.get(name) ?? []);
  return (value, run, evaluated) => {
    if (evaluated !== undefined && !evaluated.hasAllProperties) {
      for (const name of names) evaluated.properties.add(name);
    }
    const ordered = run.records ? checked : tagsFirst;
    const looked = checked.length <= manyProperties ? ordered : findPresent(value as Value);
    let isValid = true;
    for (const { name, node } of looked) {
      const part = (value as Value)[name];
      if (part === undefined || !Object.hasOwn(value as Value, name)) continue;
      if (run.records ? run.enter(node, name, part) : node.check(part, run, undefined)) continue;
      isValid = false;
      if (!run.records) break;
    }
    return isValid;
  };
}

function patternPropertiesRule(patterns: Schema, context: SchemaContext): Rule {
  const compiled = Object.entries(patterns).map(([pattern, schema]) => ({
    pattern: context.patternOf(pattern),
    node: context.nodeOf(schema),
  }));
  return (value, run, evaluated) => {
    const names = Object.keys(value as Value);
    let isValid = true;
    for (const { pattern, node } of compiled) {
      if (node.takesAll && evaluated === undefined) continue;
      for (const name of names) {
        if (!pattern.test(name)) continue;
        evaluated?.properties.add(name);
        if (node.takesAll || run.enter(node, name, (value as Value)[name])) continue;
        isValid = false;
        if (!run.records) return false;
      }
    }
    return isValid;
  };
}

/** Checks the remaining properties. */
function checkRest(node: SchemaNode, names: readonly string[], value: Value, run: CheckRun): boolean {
  let isValid = true;
  for (const name of names) {
    const isFine =
      node.schema === false ? run.fail("is not allowed", { at: name }) : run.enter(node, name, value[name]);
    if (isFine) continue;
    isValid = false;
    if (!run.records) break;
  }
  return isValid;
}

function additionalPropertiesRule(schema: Schema, context: SchemaContext): Rule {
  const node = context.nodeOf(schema.additionalProperties);
  const named = new Set(entriesOf(schema.properties).map(([name]) => name));
  const patterns = entriesOf(schema.patternProperties).map(([pattern]) => context.patternOf(pattern));
  const isNamed = (name: string) => named.has(name) || patterns.some((pattern) => pattern.test(name));
  return (value, run, evaluated) => {
    if (evaluated !== undefined) evaluated.hasAllProperties = true;
    if (node.takesAll) return true;
    const names = Object.keys(value as Value);
    if (names.every(isNamed)) return true;
    return checkRest(
      node,
      names.filter((name) => !isNamed(name)),
      value as Value,
      run,
    );
  };
}

/** Rules that require properties or apply a schema if a property is present. */
function dependencyRules(dependencies: unknown, context: SchemaContext): Rule[] {
  return entriesOf(dependencies).flatMap(([name, dependency]): Rule[] => {
    if (!Array.isArray(dependency)) {
      const node = context.nodeOf(dependency);
      if (node.takesAll) return [];
      return [(value, run, evaluated) => !has(value as Value, name) || node.check(value, run, evaluated)];
    }
    const wanted: readonly string[] = dependency;
    const what = () => {
      const properties = wanted.length === 1 ? "property" : "properties";
      return `must have ${properties} ${wanted.join(", ")} when property ${name} is present`;
    };
    return [
      (value, run) => {
        if (!has(value as Value, name)) return true;
        return wanted.every((one) => has(value as Value, one)) || run.fail(what);
      },
    ];
  });
}

function unevaluatedPropertiesRule(node: SchemaNode): Rule {
  return (value, run, evaluated) => {
    if (evaluated === undefined || evaluated.hasAllProperties) return true;
    evaluated.hasAllProperties = true;
    if (node.takesAll) return true;
    const names = Object.keys(value as Value);
    const left = names.filter((name) => !evaluated.properties.has(name));
    return checkRest(node, left, value as Value, run);
  };
}

/** Rules for objects. */
export function objectRules(schema: Schema, context: SchemaContext): Rule[] {
  const { required, propertyNames, additionalProperties, properties, patternProperties } = schema;
  const rules = countRules(schema);
  if (Array.isArray(required) && required.length > 0) rules.push(requiredRule(required));
  const names = context.nodeOf(propertyNames ?? true);
  if (!names.takesAll) rules.push(propertyNamesRule(names));
  if (additionalProperties !== undefined) rules.push(additionalPropertiesRule(schema, context));
  rules.push(...dependencyRules(schema.dependencies, context));
  if (isRecord(properties)) rules.push(propertiesRule(properties, context));
  if (isRecord(patternProperties)) rules.push(patternPropertiesRule(patternProperties, context));
  if (context.draft === "draft2020") {
    for (const keyword of ["dependentRequired", "dependentSchemas"])
      rules.push(...dependencyRules(schema[keyword], context));
    if (schema.unevaluatedProperties !== undefined)
      rules.push(unevaluatedPropertiesRule(context.nodeOf(schema.unevaluatedProperties)));
  }
  return rules;
}
