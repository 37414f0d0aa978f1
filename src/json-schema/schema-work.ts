// How much work a schema can make. A check applies a schema to a value once for each way that leads to it: thirty schemas, each an
// `anyOf` of the next one twice, apply the last one 2^30 times.
import { memoize } from "../data/memoize.ts";
import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";
import type { SchemaFault } from "./meta-schema.ts";
import type { PlacedSchema, References, Schema } from "./read-schema.ts";

/** Limit on how often schemas are applied to one value. */
export const mostWork = 1_000_000;
/** Levels of values inside each other for which that holds. */
export const levels = 3;
/** Limit on schemas that apply each other to one value. ajv compiles them by recursion. */
const longestChain = 200;

/** A condition may be applied twice, beside its `then`, too. */
const inPlace = ["allOf", "anyOf", "oneOf", "not", "if", "if", "then", "else"];
const byName = ["dependentSchemas", "dependencies"];
/** Applied to every member of a value. */
const toAll = ["propertyNames", "contains", "unevaluatedProperties", "unevaluatedItems"];

const schemasIn = (value: unknown): Schema[] => [value].flat().filter(isRecord);
const entriesIn = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
const valuesIn = (value: unknown) => schemasIn(entriesIn(value).map(([, inner]) => inner));
const cap = (count: number) => Math.min(count, 1e9);

/** How often the first of some schemas can apply them all to one value, or what forbids to find it out. Runs nothing. */
export function measureWork(schemas: readonly PlacedSchema[], references: References): number | SchemaFault {
  let fault: SchemaFault | undefined;
  const applied = new Map<Schema, readonly Schema[]>();
  /** The longest chain that each schema begins. */
  const chains = new Map<Schema, number>();
  const onWay = new Set<Schema>();

  /** Lists what a schema applies to its own value. A schema gets into `chains` after those that it applies. */
  function follow(schema: Schema, via: Path): number {
    const known = chains.get(schema);
    if (known !== undefined || fault !== undefined) return known ?? 0;
    if (onWay.has(schema))
      fault = { what: "refers back to itself, so checking a value would never end", path: via };
    onWay.add(schema);
    const parts = [...inPlace.map((key) => schema[key]), ...byName.flatMap((key) => valuesIn(schema[key]))];
    const steps = [
      ...parts.flatMap(schemasIn).map((target) => ({ target, path: via })),
      ...(references.get(schema) ?? []),
    ].filter((step): step is { target: Schema; path: Path } => isRecord(step.target));
    // The limit is checked on the way down, too, as it bounds this recursion.
    let chain = 1;
    for (const { target, path } of onWay.size > longestChain ? [] : steps)
      chain = Math.max(chain, 1 + follow(target, path));
    onWay.delete(schema);
    if (chain + onWay.size > longestChain)
      fault ??= { what: `is in a chain of more than ${longestChain} schemas for the same value`, path: via };
    applied.set(
      schema,
      steps.map(({ target }) => target),
    );
    chains.set(schema, chain);
    return chain;
  }
  for (const { schema, path } of schemas) follow(schema, path);
  if (fault !== undefined) return fault;

  /** Of the measure itself, in which each schema that refers to a large one takes as many. */
  let steps = 0;
  /** How often each schema is applied to a value that one is applied to. */
  const countApplied = memoize((schema: Schema): ReadonlyMap<Schema, number> => {
    const counts = new Map<Schema, number>();
    const order: Schema[] = [];
    const reach = (one: Schema) => {
      if (counts.has(one)) return;
      counts.set(one, 0);
      applied.get(one)?.forEach(reach);
      order.push(one);
    };
    reach(schema);
    counts.set(schema, 1);
    // Each behind those that apply it.
    for (const one of order.reverse()) {
      const count = counts.get(one) ?? 0;
      for (const next of applied.get(one) ?? []) counts.set(next, cap(count + (counts.get(next) ?? 0)));
    }
    return counts;
  });
  /** The schemas that apply to all members of a value; and those by name or index, with the one for the other members. */
  const listInner = memoize((schema: Schema) => {
    const { properties, additionalProperties, patternProperties, prefixItems, items, additionalItems } =
      schema;
    const named: [members: unknown, others: unknown][] = [
      [properties, additionalProperties],
      [prefixItems ?? (Array.isArray(items) ? items : []), Array.isArray(items) ? additionalItems : items],
    ];
    return {
      toEvery: schemasIn([...toAll.map((key) => schema[key]), ...valuesIn(patternProperties)]),
      byName: named.map(([members, others]) => ({ members: entriesIn(members), others })),
    };
  });

  const known = Array.from({ length: levels + 1 }, () => new Map<unknown, number>());
  function workOf(schema: unknown, level: number): number {
    if (!isRecord(schema) || level > levels || steps > mostWork) return 0;
    const before = known[level]?.get(schema);
    if (before !== undefined) return before;
    let own = 0;
    let toEach = 0;
    const more = new Map<string, number>();
    const counts = countApplied(schema);
    steps += counts.size - 1;
    for (const [one, count] of counts) {
      own += count;
      const { toEvery, byName } = listInner(one);
      steps += toEvery.length;
      for (const inner of toEvery) toEach += count * workOf(inner, level + 1);
      for (const { members, others } of byName) {
        const rest = workOf(others, level + 1);
        toEach += count * rest;
        steps += members.length;
        for (const [name, inner] of members)
          more.set(name, (more.get(name) ?? 0) + count * (workOf(inner, level + 1) - rest));
      }
    }
    let most = 0;
    for (const value of more.values()) most = Math.max(most, value);
    const work = cap(own + toEach + most);
    known[level]?.set(schema, work);
    return work;
  }

  const work = workOf(schemas[0]?.schema, 0);
  if (work <= mostWork && steps <= mostWork) return work;
  const limit = mostWork.toLocaleString("en-US");
  return {
    what: `can apply its schemas more than ${limit} times to one value, so no value is checked with it`,
    path: [],
  };
}
