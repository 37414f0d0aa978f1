// What each keyword demands of a value. Schemas are interpreted: a schema's demands are listed when a value first reaches it, so
// that unused schemas cost nothing.
import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/text.ts";
import { describeViolations, listChoices, type Violation } from "./describe-violation.ts";
import { keywords, type SchemaFault, writeCanonical } from "./keywords.ts";
import { readSchema } from "./schema-faults.ts";
import { type Backtrack, createSchemaPattern, PatternLimit, type SchemaPattern } from "./schema-pattern.ts";
import { isAlias, type ReferenceTargets } from "./schema-references.ts";
import { type Draft, type Schema, surveySchema } from "./schema-survey.ts";

type Properties = Record<string, unknown>;
type Items = readonly unknown[];

/** The properties and items of one value that some schema has looked at. */
class Evaluated {
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

/** Whether a value satisfies a keyword, whose argument the meta-schema allows. */
type Rule = (
  argument: never,
  value: never,
  checker: SchemaChecker,
  schema: Schema,
  evaluated: Evaluated | undefined,
) => boolean;

/** One keyword of a schema, for values of one type or of all. */
interface Demand {
  takes: (value: unknown) => boolean;
  rule: Rule;
  argument: unknown;
}

/** Limit on recorded violations: nested alternatives may have many. */
const mostViolations = 1000;

/** Thrown if enough violations are recorded. */
class EnoughViolations extends Error {}

const refused: Demand = {
  takes: () => true,
  rule: (_argument, _value, checker) => checker.fail("is not allowed"),
  argument: undefined,
};

/** Checks values with a valid schema and the schemas inside it; without `backtrack`, not with patterns that need it. */
export class SchemaChecker {
  readonly draft: Draft;
  readonly #targets: ReferenceTargets;
  readonly #backtrack: Backtrack | undefined;
  readonly #demands = new Map<unknown, readonly Demand[]>([
    [true, []],
    [false, [refused]],
  ]);
  readonly #patterns = new Map<string, SchemaPattern>();
  readonly #derived = new Map<unknown, unknown>();
  /** Whether all violations are recorded; otherwise, the check ends at the first, and adds defaults. */
  records = false;
  /** Whether the schema is only tried, as in `anyOf`, so that no defaults are added. */
  isTentative = false;
  #violations: Violation[] = [];
  #path: (string | number)[] = [];

  constructor(draft: Draft, targets: ReferenceTargets, backtrack?: Backtrack) {
    this.draft = draft;
    this.#targets = targets;
    this.#backtrack = backtrack;
  }

  /** Whether a schema accepts a value, to which its defaults are added. */
  accepts(schema: unknown, value: unknown): boolean {
    this.records = false;
    this.isTentative = false;
    this.#path = [];
    return this.check(schema, value, undefined);
  }

  /** The first violations of a schema. */
  findViolations(schema: unknown, value: unknown): readonly Violation[] {
    this.records = true;
    this.isTentative = false;
    this.#violations = [];
    this.#path = [];
    try {
      this.check(schema, value, undefined);
    } catch (error) {
      // Earlier violations are enough.
      if (!(error instanceof EnoughViolations || this.#violations.length > 0)) throw error;
    }
    return this.#violations;
  }

  /** Applies a schema to a value. Stops at the first violation unless violations are recorded. */
  check(schema: unknown, value: unknown, evaluated: Evaluated | undefined): boolean {
    let demands = this.#demands.get(schema);
    if (demands === undefined) {
      demands = listDemands(schema as Schema, this.draft);
      this.#demands.set(schema, demands);
    }
    // `unevaluated…` considers only this schema and its subschemas, not the enclosing ones.
    const collects = isRecord(schema) && ("unevaluatedProperties" in schema || "unevaluatedItems" in schema);
    const own = collects ? new Evaluated() : evaluated;
    let isValid = true;
    for (const { takes, rule, argument } of demands) {
      if (!takes(value) || rule(argument as never, value as never, this, schema as Schema, own)) continue;
      isValid = false;
      if (!this.records) break;
    }
    if (own !== undefined && own !== evaluated) evaluated?.add(own);
    return isValid;
  }

  /** Checks a part of a value and maintains the path. */
  enter(schema: unknown, key: string | number, part: unknown): boolean {
    this.#path.push(key);
    const isValid = this.check(schema, part, undefined);
    this.#path.pop();
    return isValid;
  }

  /** Tries a schema without adding defaults or, unless `records` says so, recording violations. */
  try(schema: unknown, value: unknown, evaluated?: Evaluated, records = false): boolean {
    const before = { records: this.records, isTentative: this.isTentative };
    Object.assign(this, { records, isTentative: true });
    const isValid = this.check(schema, value, evaluated);
    Object.assign(this, before);
    return isValid;
  }

  /** Whether a test succeeds for all entries. After a failure, the rest is tested only to record more violations. */
  every<Entry>(entries: Iterable<Entry>, test: (entry: Entry) => boolean): boolean {
    let isValid = true;
    for (const entry of entries) {
      if (test(entry)) continue;
      isValid = false;
      if (!this.records) break;
    }
    return isValid;
  }

  /** Returns `false`, and records the violation. */
  fail(what: string | (() => string), missing?: string): false {
    if (!this.records) return false;
    const isMissing = missing !== undefined;
    const path = isMissing ? [...this.#path, missing] : [...this.#path];
    this.#violations.push({ path, what: typeof what === "string" ? what : what(), isMissing });
    if (this.#violations.length >= mostViolations) throw new EnoughViolations();
    return false;
  }

  /** What is computed once from an argument. */
  derive<Argument, Result>(argument: Argument, make: (argument: Argument) => Result): Result {
    if (!this.#derived.has(argument)) this.#derived.set(argument, make(argument));
    return this.#derived.get(argument) as Result;
  }

  matches(pattern: string, text: string): boolean {
    const compiled = this.#patterns.get(pattern) ?? createSchemaPattern(pattern, this.#backtrack);
    this.#patterns.set(pattern, compiled);
    return compiled.test(text);
  }

  targetOf(schema: Schema, keyword: string): Schema | boolean {
    let target = this.#targets.get(schema)?.get(keyword) ?? true;
    // Skips chains of aliases, which can be long.
    while (isRecord(target) && isAlias(target)) target = this.#targets.get(target)?.get("$ref") ?? true;
    return target;
  }
}

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isString = (value: unknown): boolean => typeof value === "string";

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null,
  number: isNumber,
  object: isRecord,
  string: isString,
};

const reference =
  (keyword: string): Rule =>
  (_argument, value, checker, schema, evaluated) =>
    checker.check(checker.targetOf(schema, keyword), value, evaluated);

/** A rule about the number of matching alternatives. Those that match contribute evaluated properties. */
const alternatives =
  (most: number, what: string): Rule =>
  (schemas: Items, value, checker, _schema, evaluated) => {
    let count = 0;
    for (const schema of schemas) {
      const own = evaluated && new Evaluated();
      if (!checker.try(schema, value, own)) continue;
      count++;
      if (own !== undefined) evaluated?.add(own);
      if (count > most || (most === Infinity && evaluated === undefined)) break;
    }
    if (count > 0 && count <= most) return true;
    if (checker.records) for (const schema of schemas) checker.try(schema, value, undefined, true);
    return checker.fail(what);
  };

const forAll: Readonly<Record<string, Rule>> = {
  type(written: string | string[], value: unknown, checker, { nullable }) {
    // `nullable` is OpenAPI's.
    const fits = [written].flat().some((type) => typeTests[type]?.(value));
    return fits || (nullable === true && value === null) || checker.fail(`must be ${written}`);
  },
  $ref: reference("$ref"),
  $dynamicRef: reference("$dynamicRef"),
  $recursiveRef: reference("$recursiveRef"),
  const: (wanted: unknown, value: unknown, checker) =>
    wanted === undefined ||
    writeCanonical(value) === writeCanonical(wanted) ||
    checker.fail(() => `must be ${listChoices([wanted])}`),
  enum: (values: Items, value: unknown, checker) =>
    checker.derive(values, (all) => new Set(all.map(writeCanonical))).has(writeCanonical(value)) ||
    checker.fail(() => `must be one of ${listChoices(values)}`),
  not: (schema: unknown, value: unknown, checker) =>
    !checker.try(schema, value) || checker.fail("must NOT be valid"),
  anyOf: alternatives(Infinity, "must match a schema in anyOf"),
  oneOf: alternatives(1, "must match exactly one schema in oneOf"),
  allOf: (schemas: Items, value, checker, _schema, evaluated) =>
    checker.every(schemas, (schema) => checker.check(schema, value, evaluated)),
  if(condition: unknown, value: unknown, checker, schema, evaluated) {
    const own = evaluated && new Evaluated();
    const branch = checker.try(condition, value, own) ? "then" : "else";
    if (own !== undefined && branch === "then") evaluated?.add(own);
    const isValid = checker.check(schema[branch] ?? true, value, evaluated);
    return isValid || checker.fail(`must match "${branch}" schema`);
  },
};

const forNumbers: Readonly<Record<string, Rule>> = {
  maximum: (limit: number, value, checker) => value <= limit || checker.fail(`must be <= ${limit}`),
  minimum: (limit: number, value, checker) => value >= limit || checker.fail(`must be >= ${limit}`),
  exclusiveMaximum: (limit: number, value, checker) => value < limit || checker.fail(`must be < ${limit}`),
  exclusiveMinimum: (limit: number, value, checker) => value > limit || checker.fail(`must be > ${limit}`),
  multipleOf: (factor: number, value, checker) =>
    Number.isInteger(value / factor) || checker.fail(`must be multiple of ${factor}`),
};

/** The length of a string in characters, which is exact only near the limit. */
function lengthOf(text: string, limit: number): number {
  if (text.length <= limit || text.length >= 2 * limit + 2) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The message about a number of parts. */
const tooMany = (limit: number, parts: string) => `must NOT have more than ${limit} ${parts}`;
const tooFew = (limit: number, parts: string) => `must NOT have fewer than ${limit} ${parts}`;

const forStrings: Readonly<Record<string, Rule>> = {
  maxLength: (limit: number, text: string, checker) =>
    lengthOf(text, limit) <= limit || checker.fail(tooMany(limit, "characters")),
  minLength: (limit: number, text: string, checker) =>
    (text.length >= limit && lengthOf(text, limit - 1) >= limit) || checker.fail(tooFew(limit, "characters")),
  pattern: (pattern: string, text: string, checker) =>
    checker.matches(pattern, text) || checker.fail(() => `must match the pattern ${quote(pattern)}`),
};

const addItems = (evaluated: Evaluated | undefined, count: number) => {
  if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, count);
};

/** The indexes of two equal items; `undefined` if there are none. Takes linear time. */
function findDuplicate(items: Items): [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = writeCanonical(item);
    const before = seen.get(text);
    if (before !== undefined) return [before, index];
    seen.set(text, index);
  }
  return undefined;
}

/** Items that have a schema each. */
const tuple: Rule = (schemas: Items, items: Items, checker, _schema, evaluated) => {
  addItems(evaluated, schemas.length);
  return checker.every(schemas.slice(0, items.length).entries(), ([index, schema]) =>
    checker.enter(schema, index, items[index]),
  );
};

/** The items from an index on. With a schema of `false`, the rule is a limit on the length. */
function checkRest(
  schema: unknown,
  items: Items,
  checker: SchemaChecker,
  start: number,
  isLimit: boolean,
): boolean {
  if (items.length <= start) return true;
  if (schema === false && isLimit) return checker.fail(tooMany(start, "items"));
  let isValid = true;
  for (let index = start; index < items.length; index++) {
    if (checker.enter(schema, index, items[index])) continue;
    isValid = false;
    if (!checker.records) break;
  }
  return isValid;
}

const forArrays: Readonly<Record<string, Rule>> = {
  // Before defaults are added to the items.
  uniqueItems(isDemanded: boolean, items: Items, checker) {
    const [i, j] = (isDemanded && findDuplicate(items)) || [];
    const what = `must NOT have duplicate items (items ## ${i} and ${j} are identical)`;
    return i === undefined || checker.fail(what);
  },
  maxItems: (limit: number, items: Items, checker) =>
    items.length <= limit || checker.fail(tooMany(limit, "items")),
  minItems: (limit: number, items: Items, checker) =>
    items.length >= limit || checker.fail(tooFew(limit, "items")),
  prefixItems: tuple,
  items(written: unknown, items: Items, checker, schema, evaluated) {
    if (Array.isArray(written)) return tuple(written as never, items as never, checker, schema, evaluated);
    const { prefixItems } = schema;
    const start = checker.draft === "draft2020" && Array.isArray(prefixItems) ? prefixItems.length : 0;
    addItems(evaluated, Infinity);
    return checkRest(written, items, checker, start, start > 0);
  },
  additionalItems(written: unknown, items: Items, checker, schema, evaluated) {
    if (!Array.isArray(schema.items)) return true;
    addItems(evaluated, Infinity);
    return checkRest(written, items, checker, schema.items.length, schema.items.length > 0);
  },
  contains(written: unknown, items: Items, checker, { minContains, maxContains }, evaluated) {
    const counts = checker.draft === "draft2020";
    const least = counts && typeof minContains === "number" ? minContains : 1;
    const most = counts && typeof maxContains === "number" ? maxContains : Infinity;
    addItems(evaluated, Infinity);
    let count = 0;
    for (const item of items) {
      // Stop once the result is known.
      if (count > most || (count >= least && most === Infinity)) break;
      if (checker.try(written, item)) count++;
    }
    if (count >= least && count <= most) return true;
    if (checker.records) for (const [index, item] of items.entries()) checker.enter(written, index, item);
    const limit = most === Infinity ? "" : ` and no more than ${most}`;
    return checker.fail(`must contain at least ${least}${limit} valid item(s)`);
  },
  unevaluatedItems(written: unknown, items: Items, checker, _schema, evaluated) {
    const start = evaluated?.items ?? 0;
    addItems(evaluated, Infinity);
    return checkRest(written, items, checker, start, true);
  },
};

/** Own and not `undefined`, as in JSON. */
const has = (value: Properties, name: string) => value[name] !== undefined && Object.hasOwn(value, name);

const entriesOf = (value: unknown): [string, unknown][] => (isRecord(value) ? Object.entries(value) : []);

/** Above this number, iterating over the value's properties is faster than over the schema's. */
const manyProperties = 40;

/** The names of properties; first those whose schemas can reject an alternative before values inside it are looked at. */
function sortNames(properties: Properties): { names: readonly string[]; tagsFirst: readonly string[] } {
  const names = Object.keys(properties);
  const isTag = (schema: unknown) => isRecord(schema) && ("const" in schema || "enum" in schema);
  const rank = (name: string) => Number(isTag(properties[name]));
  return { names, tagsFirst: names.toSorted((a, b) => rank(b) - rank(a)) };
}

/** Requires properties or applies a schema if a property is present. */
const dependencies: Rule = (written: Properties, value: Properties, checker, _schema, evaluated) =>
  checker.every(Object.entries(written), ([name, dependency]) => {
    if (!has(value, name)) return true;
    if (!Array.isArray(dependency)) return checker.check(dependency, value, evaluated);
    const properties = `${dependency.length === 1 ? "property" : "properties"} ${dependency.join(", ")}`;
    return (
      dependency.every((one: string) => has(value, one)) ||
      checker.fail(`must have ${properties} when property ${name} is present`)
    );
  });

const forObjects: Readonly<Record<string, Rule>> = {
  maxProperties: (limit: number, value: Properties, checker) =>
    Object.keys(value).length <= limit || checker.fail(tooMany(limit, "properties")),
  minProperties: (limit: number, value: Properties, checker) =>
    Object.keys(value).length >= limit || checker.fail(tooFew(limit, "properties")),
  required: (names: readonly string[], value: Properties, checker) =>
    checker.every(names, (name) => has(value, name) || checker.fail("is required", name)),
  propertyNames: (schema: unknown, value: Properties, checker) =>
    checker.every(
      Object.keys(value),
      (name) =>
        checker.try(schema, name, undefined, checker.records) || checker.fail("property name must be valid"),
    ),
  additionalProperties(written: unknown, value: Properties, checker, schema, evaluated) {
    const { properties, patternProperties } = schema;
    const patterns = entriesOf(patternProperties);
    if (evaluated !== undefined) evaluated.hasAllProperties = true;
    return checker.every(Object.entries(value), ([name, part]) => {
      const isNamed = isRecord(properties) && Object.hasOwn(properties, name);
      if (isNamed || patterns.some(([pattern]) => checker.matches(pattern, name))) return true;
      return checker.enter(written, name, part);
    });
  },
  dependencies,
  properties(properties: Properties, value: Properties, checker, _schema, evaluated) {
    const { names, tagsFirst } = checker.derive(properties, sortNames);
    const few = checker.records ? names : tagsFirst;
    return checker.every(names.length <= manyProperties ? few : Object.keys(value), (name) => {
      if (!has(value, name) || !Object.hasOwn(properties, name)) return true;
      evaluated?.properties.add(name);
      return checker.enter(properties[name], name, value[name]);
    });
  },
  patternProperties: (written: Properties, value: Properties, checker, _schema, evaluated) =>
    checker.every(Object.entries(written), ([pattern, schema]) =>
      checker.every(Object.entries(value), ([name, part]) => {
        if (!checker.matches(pattern, name)) return true;
        evaluated?.properties.add(name);
        return checker.enter(schema, name, part);
      }),
    ),
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  unevaluatedProperties(written: unknown, value: Properties, checker, _schema, evaluated) {
    if (evaluated === undefined || evaluated.hasAllProperties) return true;
    evaluated.hasAllProperties = true;
    return checker.every(
      Object.entries(value),
      ([name, part]) => evaluated.properties.has(name) || checker.enter(written, name, part),
    );
  },
};

/** Adds the defaults of properties, or of items with a schema each, for absent keys, except for inherited names such as `constructor`. */
const addDefaults: Rule = (defaults: readonly [string, unknown][], target: Properties, checker) => {
  if (checker.isTentative) return true;
  for (const [key, content] of defaults)
    if (target[key] === undefined) target[key] = structuredClone(content);
  return true;
};

const tables = [
  [() => true, forAll, undefined],
  [isNumber, forNumbers, undefined],
  [isString, forStrings, undefined],
  [Array.isArray, forArrays, "items"],
  [isRecord, forObjects, "properties"],
] as const;

/** The demands of a schema, in the order in which violations are reported. */
function listDemands(schema: Schema, draft: Draft): Demand[] {
  const known = keywords[draft];
  return tables.flatMap(([takes, table, parts]): Demand[] => {
    const inner = parts && schema[parts];
    const defaults = (parts === "items" && !Array.isArray(inner) ? [] : Object.entries(inner ?? {})).flatMap(
      ([key, part]): [string, unknown][] =>
        isRecord(part) && part.default !== undefined ? [[key, part.default]] : [],
    );
    const demands = Object.entries(table)
      .filter(([key]) => Object.hasOwn(schema, key) && (known.has(key) || key === "const"))
      .map(([key, rule]): Demand => ({ takes, rule, argument: schema[key] }));
    return defaults.length === 0 ? demands : [{ takes, rule: addDefaults, argument: defaults }, ...demands];
  });
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
  const checker = new SchemaChecker(draft, references.targets);
  return withDefaults.flatMap((placed) => {
    // Checking may add the defaults of inner schemas, as a call does.
    const value = structuredClone(placed.schema.default);
    try {
      if (checker.accepts(placed.schema, value)) return [];
      const what = describeViolations(checker.findViolations(placed.schema, value));
      return [{ what, path: [...placed.path, "default"] }];
    } catch (error) {
      if (error instanceof PatternLimit || error instanceof RangeError) return [];
      throw error;
    }
  });
}
