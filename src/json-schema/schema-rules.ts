// What each keyword demands of a value.
import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/text.ts";
import { listChoices } from "./describe-violation.ts";
import { keywords, writeCanonical } from "./keywords.ts";
import type { CheckRun, Rule, SchemaContext, SchemaNode, TypedRule } from "./schema-check.ts";
import type { Schema } from "./schema-survey.ts";

type Properties = Record<string, unknown>;
type Items = readonly unknown[];

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

/** Makes the rule of a keyword's value, which the meta-schema allows; nothing if every value satisfies it. */
type Make<Argument> = (argument: Argument, schema: Schema, context: SchemaContext) => Rule | undefined;

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isString = (value: unknown): boolean => typeof value === "string";

const holds =
  <Value>(test: (value: Value) => boolean, what: string | (() => string)): Rule =>
  (value, run) =>
    test(value as Value) || run.fail(what);

/** Whether a test succeeds for every entry. After a failure, the rest is tested only to record more violations. */
function every<Entry>(entries: Iterable<Entry>, run: CheckRun, test: (entry: Entry) => boolean): boolean {
  let isValid = true;
  for (const entry of entries) {
    if (test(entry)) continue;
    isValid = false;
    if (!run.records) break;
  }
  return isValid;
}

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null,
  number: isNumber,
  object: isRecord,
  string: isString,
};

/** Constant-time comparison with any number of values. */
function choiceRule(allowed: readonly unknown[], prefix: string): Rule {
  const canonical = new Set(allowed.map(writeCanonical));
  const what = () => `must be ${prefix}${listChoices(allowed)}`;
  return holds((value) => canonical.has(writeCanonical(value)), what);
}

const reference =
  (keyword: string): Make<unknown> =>
  (_argument, schema, context) => {
    const node = context.targetOf(schema, keyword);
    return (value, run, evaluated) => node.check(value, run, evaluated);
  };

/** A rule about the number of matching alternatives. Those that match contribute evaluated properties. */
const alternatives =
  (most: number, what: string): Make<Items> =>
  (schemas, _schema, context) => {
    const nodes = schemas.map(context.nodeOf);
    return (value, run, evaluated) => {
      let count = 0;
      for (const node of nodes) {
        const own = evaluated && new Evaluated();
        if (!run.try(node, value, own)) continue;
        count++;
        if (own !== undefined) evaluated?.add(own);
        if (count > most || (most === Infinity && evaluated === undefined)) break;
      }
      if (count > 0 && count <= most) return true;
      if (run.records) for (const node of nodes) run.try(node, value, undefined, true);
      return run.fail(what);
    };
  };

const forAll: Readonly<Record<string, Make<never>>> = {
  type(written: string | string[], { nullable }) {
    const types = [written].flat();
    // OpenAPI's `nullable`.
    if (nullable === true) types.push("null");
    const tests = types.map((type) => typeTests[type] ?? (() => false));
    return holds((value) => tests.some((test) => test(value)), `must be ${written}`);
  },
  $ref: reference("$ref"),
  $dynamicRef: reference("$dynamicRef"),
  $recursiveRef: reference("$recursiveRef"),
  const: (value: unknown) => (value === undefined ? undefined : choiceRule([value], "")),
  enum: (values: Items) => choiceRule(values, "one of "),
  not(schema: unknown, _schema, { nodeOf }) {
    const node = nodeOf(schema);
    return (value, run) => !run.try(node, value) || run.fail("must NOT be valid");
  },
  anyOf: alternatives(Infinity, "must match a schema in anyOf"),
  oneOf: alternatives(1, "must match exactly one schema in oneOf"),
  allOf(schemas: Items, _schema, { nodeOf }) {
    const nodes = schemas.map(nodeOf);
    return (value, run, evaluated) => {
      let isValid = true;
      for (const node of nodes) {
        if (node.check(value, run, evaluated)) continue;
        isValid = false;
        if (!run.records) break;
      }
      return isValid;
    };
  },
  if(schema: unknown, { then = true, else: otherwise = true }, { nodeOf }) {
    const [condition, onMatch, onMismatch] = [nodeOf(schema), nodeOf(then), nodeOf(otherwise)];
    return (value, run, evaluated) => {
      const own = evaluated && new Evaluated();
      const matches = run.try(condition, value, own);
      if (own !== undefined && matches) evaluated?.add(own);
      const branch = matches ? onMatch : onMismatch;
      return (
        branch.check(value, run, evaluated) || run.fail(`must match "${matches ? "then" : "else"}" schema`)
      );
    };
  },
};

const forNumbers: Readonly<Record<string, Make<never>>> = {
  maximum: (limit: number) => holds((value: number) => value <= limit, `must be <= ${limit}`),
  minimum: (limit: number) => holds((value: number) => value >= limit, `must be >= ${limit}`),
  exclusiveMaximum: (limit: number) => holds((value: number) => value < limit, `must be < ${limit}`),
  exclusiveMinimum: (limit: number) => holds((value: number) => value > limit, `must be > ${limit}`),
  multipleOf: (factor: number) =>
    holds((value: number) => Number.isInteger(value / factor), `must be multiple of ${factor}`),
};

/** The length of a string in characters, which is exact only near the limit. */
function lengthOf(text: string, limit: number): number {
  if (text.length <= limit || text.length >= 2 * limit + 2) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const forStrings: Readonly<Record<string, Make<never>>> = {
  maxLength: (limit: number) =>
    holds((text: string) => lengthOf(text, limit) <= limit, `must NOT have more than ${limit} characters`),
  minLength: (limit: number) =>
    holds(
      (text: string) => text.length >= limit && lengthOf(text, limit - 1) >= limit,
      `must NOT have fewer than ${limit} characters`,
    ),
  pattern(pattern: string, _schema, { patternOf }) {
    const compiled = patternOf(pattern);
    return holds(
      (text: string) => compiled.test(text),
      () => `must match the pattern ${quote(pattern)}`,
    );
  },
};

const tooMany = (limit: number) => `must NOT have more than ${limit} items`;

const addItems = (evaluated: Evaluated | undefined, count: number) => {
  if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, count);
};

/** The indexes of two equal items; `undefined` if there are none. Takes linear time. */
export function findDuplicate(items: Items): [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = writeCanonical(item);
    const before = seen.get(text);
    if (before !== undefined) return [before, index];
    seen.set(text, index);
  }
  return undefined;
}

/** A rule for items that have a schema each. */
function tupleRule(schemas: Items, { nodeOf }: SchemaContext): Rule {
  const nodes = schemas.map(nodeOf);
  return (value, run, evaluated) => {
    const items = value as Items;
    addItems(evaluated, nodes.length);
    return every(nodes.slice(0, items.length).entries(), run, ([index, node]) =>
      run.enter(node, index, items[index]),
    );
  };
}

/** A rule for the items from an index on; by default, for those that have not been evaluated. */
function restRule(node: SchemaNode, first?: number): Rule {
  return (value, run, evaluated) => {
    const items = value as Items;
    const start = first ?? evaluated?.items ?? 0;
    addItems(evaluated, Infinity);
    if (items.length <= start) return true;
    // With a schema of `false`, the rule is a limit on the length.
    if (node.schema === false && (start > 0 || first === undefined)) return run.fail(tooMany(start));
    let isValid = true;
    for (let index = start; index < items.length; index++) {
      if (run.enter(node, index, items[index])) continue;
      isValid = false;
      if (!run.records) break;
    }
    return isValid;
  };
}

const forArrays: Readonly<Record<string, Make<never>>> = {
  // Before defaults are added to the items.
  uniqueItems: (isDemanded: boolean) => (value, run) => {
    const [i, j] = (isDemanded && findDuplicate(value as Items)) || [];
    return (
      i === undefined || run.fail(`must NOT have duplicate items (items ## ${i} and ${j} are identical)`)
    );
  },
  maxItems: (limit: number) => holds((items: Items) => items.length <= limit, tooMany(limit)),
  minItems: (limit: number) =>
    holds((items: Items) => items.length >= limit, `must NOT have fewer than ${limit} items`),
  prefixItems: (schemas: Items, _schema, context) => tupleRule(schemas, context),
  items(schemas: unknown, { prefixItems }, context) {
    if (Array.isArray(schemas)) return tupleRule(schemas, context);
    const start = context.draft === "draft2020" && Array.isArray(prefixItems) ? prefixItems.length : 0;
    return restRule(context.nodeOf(schemas), start);
  },
  additionalItems: (schema: unknown, { items }, { nodeOf }) =>
    Array.isArray(items) ? restRule(nodeOf(schema), items.length) : undefined,
  contains(schema: unknown, { minContains, maxContains }, { draft, nodeOf }) {
    const counts = draft === "draft2020";
    const least = counts && typeof minContains === "number" ? minContains : 1;
    const most = counts && typeof maxContains === "number" ? maxContains : Infinity;
    const node = nodeOf(schema);
    const limit = most === Infinity ? "" : ` and no more than ${most}`;
    return (value, run, evaluated) => {
      const items = value as Items;
      addItems(evaluated, Infinity);
      let count = 0;
      for (const item of items) {
        // Stop once the result is known.
        if (count > most || (count >= least && most === Infinity)) break;
        if (run.try(node, item)) count++;
      }
      if (count >= least && count <= most) return true;
      if (run.records) for (const [index, item] of items.entries()) run.enter(node, index, item);
      return run.fail(`must contain at least ${least}${limit} valid item(s)`);
    };
  },
  unevaluatedItems: (schema: unknown, _schema, { nodeOf }) => restRule(nodeOf(schema)),
};

/** Own and not `undefined`, as in JSON. */
const has = (value: Properties, name: string) => value[name] !== undefined && Object.hasOwn(value, name);

const entriesOf = (value: unknown): [string, unknown][] => (isRecord(value) ? Object.entries(value) : []);

/** Above this number, iterating over the value's properties is faster than over the schema's. */
const manyProperties = 40;

const countRule = (word: string, limit: number, fits: (count: number) => boolean): Rule =>
  holds(
    (value: Properties) => fits(Object.keys(value).length),
    `must NOT have ${word} than ${limit} properties`,
  );

/** Rules that require properties or apply a schema if a property is present. */
const dependencies: Make<Properties> = (written, _schema, { nodeOf }) => {
  const rules = Object.entries(written).map(([name, dependency]): Rule => {
    if (!Array.isArray(dependency)) {
      const node = nodeOf(dependency);
      return (value, run, evaluated) => !has(value as Properties, name) || node.check(value, run, evaluated);
    }
    const properties = `${dependency.length === 1 ? "property" : "properties"} ${dependency.join(", ")}`;
    const test = (value: Properties) =>
      !has(value, name) || dependency.every((one: string) => has(value, one));
    return holds(test, `must have ${properties} when property ${name} is present`);
  });
  return (value, run, evaluated) => every(rules, run, (rule) => rule(value, run, evaluated));
};

const forObjects: Readonly<Record<string, Make<never>>> = {
  maxProperties: (limit: number) => countRule("more", limit, (count) => count <= limit),
  minProperties: (limit: number) => countRule("fewer", limit, (count) => count >= limit),
  required: (names: readonly string[]) => (value, run) =>
    every(names, run, (name) => has(value as Properties, name) || run.fail("is required", name)),
  propertyNames(schema: unknown, _schema, { nodeOf }) {
    const node = nodeOf(schema);
    return (value, run) =>
      every(
        Object.keys(value as Properties),
        run,
        (name) => run.try(node, name, undefined, run.records) || run.fail("property name must be valid"),
      );
  },
  additionalProperties(schema: unknown, { properties, patternProperties }, { nodeOf, patternOf }) {
    const node = nodeOf(schema);
    const named = new Set(entriesOf(properties).map(([name]) => name));
    const patterns = entriesOf(patternProperties).map(([pattern]) => patternOf(pattern));
    const isNamed = (name: string) => named.has(name) || patterns.some((pattern) => pattern.test(name));
    return (value, run, evaluated) => {
      if (evaluated !== undefined) evaluated.hasAllProperties = true;
      const entries = Object.entries(value as Properties);
      return every(entries, run, ([name, part]) => isNamed(name) || run.enter(node, name, part));
    };
  },
  dependencies,
  properties(properties: Properties, _schema, { nodeOf }) {
    const names = Object.keys(properties);
    const nodes = names.map((name) => ({ name, node: nodeOf(properties[name]) }));
    // Rejects an alternative before values inside it are looked at.
    const isTag = ({ schema }: SchemaNode) => isRecord(schema) && ("const" in schema || "enum" in schema);
    const tagsFirst = [...nodes].sort((a, b) => Number(isTag(b.node)) - Number(isTag(a.node)));
    const byName = new Map(tagsFirst.map((one) => [one.name, one]));
    const findPresent = (value: Properties) => Object.keys(value).flatMap((name) => byName.get(name) ?? []);
    return (value, run, evaluated) => {
      if (evaluated !== undefined && !evaluated.hasAllProperties)
        for (const name of names) evaluated.properties.add(name);
      const ordered = run.records ? nodes : tagsFirst;
      let isValid = true;
      for (const { name, node } of nodes.length <= manyProperties
        ? ordered
        : findPresent(value as Properties)) {
        const part = (value as Properties)[name];
        if (part === undefined || !Object.hasOwn(value as Properties, name) || run.enter(node, name, part))
          continue;
        isValid = false;
        if (!run.records) break;
      }
      return isValid;
    };
  },
  patternProperties(written: Properties, _schema, { nodeOf, patternOf }) {
    const patterns = Object.entries(written).map(([pattern, schema]) => ({
      pattern: patternOf(pattern),
      node: nodeOf(schema),
    }));
    return (value, run, evaluated) =>
      every(patterns, run, ({ pattern, node }) =>
        every(Object.entries(value as Properties), run, ([name, part]) => {
          if (!pattern.test(name)) return true;
          evaluated?.properties.add(name);
          return run.enter(node, name, part);
        }),
      );
  },
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  unevaluatedProperties(schema: unknown, _schema, { nodeOf }) {
    const node = nodeOf(schema);
    return (value, run, evaluated) => {
      if (evaluated === undefined || evaluated.hasAllProperties) return true;
      evaluated.hasAllProperties = true;
      const entries = Object.entries(value as Properties);
      return every(
        entries,
        run,
        ([name, part]) => evaluated.properties.has(name) || run.enter(node, name, part),
      );
    };
  },
};

/** Adds the defaults of properties, or of items with a schema each, for absent keys, except for inherited names such as `constructor`. */
function addDefaults(schemas: unknown): Rule[] {
  if (typeof schemas !== "object" || schemas === null) return [];
  const defaults = Object.entries(schemas).flatMap(([key, schema]): [string, unknown][] =>
    isRecord(schema) && schema.default !== undefined ? [[key, schema.default]] : [],
  );
  const rule: Rule = (value, run) => {
    if (run.isTentative) return true;
    const target = value as Properties;
    for (const [key, content] of defaults)
      if (target[key] === undefined) target[key] = structuredClone(content);
    return true;
  };
  return defaults.length === 0 ? [] : [rule];
}

/** Compiles a schema to rules. Violations are reported in their order. */
export function makeRules(schema: unknown, context: SchemaContext): readonly TypedRule[] {
  if (schema === false) return [{ takes: undefined, rule: (_value, run) => run.fail("is not allowed") }];
  if (!isRecord(schema)) return [];
  const known = keywords[context.draft];
  const rulesOf = (
    takes: TypedRule["takes"],
    table: Readonly<Record<string, Make<never>>>,
    defaults: readonly Rule[] = [],
  ): TypedRule[] => {
    const written = Object.keys(table).filter(
      (key) => Object.hasOwn(schema, key) && (known.has(key) || key === "const"),
    );
    const made = written.flatMap((key) => table[key]?.(schema[key] as never, schema, context) ?? []);
    return [...defaults, ...made].map((rule) => ({ takes, rule }));
  };
  return [
    ...rulesOf(undefined, forAll),
    ...rulesOf(isNumber, forNumbers),
    ...rulesOf(isString, forStrings),
    ...rulesOf(Array.isArray, forArrays, Array.isArray(schema.items) ? addDefaults(schema.items) : []),
    ...rulesOf(isRecord, forObjects, addDefaults(schema.properties)),
  ];
}
