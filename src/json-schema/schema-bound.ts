// How much work a schema can make. A check applies a schema to a value once for each way that leads to it: thirty schemas, each an
// `anyOf` of the next one twice, apply the last one 2^30 times.
import { isRecord } from "../data/parse-json.ts";
import { isAlias, type ReferenceTargets } from "./schema-references.ts";
import { referenceKeywords, type Schema } from "./schema-survey.ts";

/** Limit on how often schemas are applied to one value. */
const mostApplications = 1_000_000;
/** Levels of values inside each other for which this is found out. */
const levels = 20;

/** The schemas that a schema applies: to the same value, to it as alternatives, and to values inside it. */
interface Parts {
  inPlace: Schema[];
  unions: Schema[][];
  /**
   * `.name` for a property and `[0` for an item; `*.` and `*[` for those without a schema of their own, `**.` and `**[`
   * for all.
   */
  inside: [where: string, Schema][];
}

/** How often schemas are applied to a value and, by the same keys, to one inside it. */
interface Work {
  own: number;
  inside: Map<string, number>;
}

const inPlaceKeywords = ["allOf", "not", "if", "then", "else", ...referenceKeywords];
const insideKeywords = {
  "*.": ["additionalProperties"],
  "**.": ["unevaluatedProperties"],
  "*[": ["items", "additionalItems"],
  "**[": ["contains", "unevaluatedItems"],
  names: ["propertyNames"],
};

const sum = (a: number, b: number) => a + b;

const readInside = ({ inside }: Work, where: string) => inside.get(where) ?? inside.get(`*${where[0]}`) ?? 0;

function merge(into: Work, other: Work, combine: (a: number, b: number) => number): void {
  into.own += other.own;
  const known = [...into.inside.keys()].filter((where) => other.inside.has(`*${where[0]}`));
  for (const [where, value] of [...new Set([...other.inside.keys(), ...known])].map(
    (where) => [where, combine(readInside(into, where), readInside(other, where))] as const,
  ))
    into.inside.set(where, value);
}

/** The values that a schema requires a property to have one of, if it is checked before other properties. */
function readTags(schema: Schema, name: unknown): readonly unknown[] | undefined {
  const property = isRecord(schema.properties) ? schema.properties[String(name)] : undefined;
  const isFirst = ![...inPlaceKeywords, "anyOf", "oneOf"].some((key) => key in schema);
  if (!isRecord(property) || !isFirst || isRecord(schema.additionalProperties)) return undefined;
  if (!Array.isArray(schema.required) || !schema.required.includes(name)) return undefined;
  if (property.const !== undefined) return [property.const];
  return Array.isArray(property.enum) ? property.enum : undefined;
}

/** Whether a property tells which of the alternatives for objects a value can match. */
function areTagged(alternatives: readonly Schema[]): boolean {
  const objects = alternatives.filter((one) => isRecord(one.properties));
  const [first] = objects;
  const names: readonly unknown[] = Array.isArray(first?.required) ? first.required : [];
  return names.some((name) => {
    const tags = objects.map((one) => readTags(one, name));
    const all = tags.flatMap((some) => some ?? []);
    return !tags.includes(undefined) && new Set(all.map((tag) => JSON.stringify(tag))).size === all.length;
  });
}

/** Why a schema without other faults is not used to check values; `undefined` if it is. Runs nothing. */
export function findExcess(schema: Schema, targets: ReferenceTargets): string | undefined {
  const parts = new Map<Schema, Parts>();

  const follow = (from: Schema, keyword: string) => targets.get(from)?.get(keyword);
  const resolve = (value: unknown): Schema[] => {
    let target = value;
    while (isRecord(target) && isAlias(target)) target = follow(target, "$ref");
    return isRecord(target) ? [target] : [];
  };
  const listIn = (value: unknown) => (Array.isArray(value) ? value : [value]).flatMap(resolve);
  const membersOf = (value: unknown) => (isRecord(value) ? Object.entries(value) : []);

  function readParts(one: Schema): Parts {
    const inside: Parts["inside"] = Object.entries(insideKeywords).flatMap(([where, keywords]) =>
      keywords.flatMap((key) => resolve(one[key]).map((inner): [string, Schema] => [where, inner])),
    );
    for (const list of [one.prefixItems, one.items])
      for (const [index, value] of Array.isArray(list) ? list.entries() : [])
        for (const inner of resolve(value)) inside.push([`[${index}`, inner]);
    for (const [name, value] of membersOf(one.properties))
      for (const inner of resolve(value)) inside.push([`.${name}`, inner]);
    for (const [, value] of membersOf(one.patternProperties))
      for (const inner of resolve(value)) inside.push(["**.", inner]);
    const dependent = [one.dependentSchemas, one.dependencies].flatMap(membersOf);
    return {
      inPlace: [
        ...inPlaceKeywords.flatMap((key) => listIn(follow(one, key) ?? one[key])),
        ...dependent.flatMap(([, value]) => resolve(value)),
      ],
      unions: [listIn(one.anyOf), listIn(one.oneOf)],
      inside,
    };
  }

  const top = resolve(schema);
  const pending = [...top];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (parts.has(one)) continue;
    const read = readParts(one);
    parts.set(one, read);
    pending.push(...read.inPlace, ...read.unions.flat(), ...read.inside.map(([, inner]) => inner));
  }

  /** Of values with one level less. */
  let costs = new Map<Schema, number>();
  let works = new Map<Schema, Work>();

  // Recursion is as deep as chains of schemas for one value, which are limited.
  function workOf(one: Schema): Work {
    const known = works.get(one);
    if (known !== undefined) return known;
    const work: Work = { own: 1, inside: new Map() };
    const { inPlace = [], unions = [], inside = [] } = parts.get(one) ?? {};
    for (const [where, inner] of inside)
      work.inside.set(where, (work.inside.get(where) ?? 0) + (costs.get(inner) ?? 0));
    for (const family of [".", "["]) {
      const always = work.inside.get(`**${family}`);
      if (always === undefined) continue;
      work.inside.delete(`**${family}`);
      const others = [...work.inside.keys()].filter((where) => where.startsWith(family));
      for (const where of [...others, `*${family}`])
        work.inside.set(where, (work.inside.get(where) ?? 0) + always);
    }
    for (const inner of inPlace) merge(work, workOf(inner), sum);
    for (const union of unions) {
      const joined: Work = { own: 0, inside: new Map() };
      const combine = areTagged(union) ? Math.max : sum;
      for (const inner of union) merge(joined, workOf(inner), combine);
      merge(work, joined, sum);
    }
    works.set(one, work);
    return work;
  }

  for (let level = 0; level <= levels; level++) {
    works = new Map();
    const next = new Map<Schema, number>();
    let hasGrown = false;
    for (const one of parts.keys()) {
      const { own, inside } = workOf(one);
      let most = 0;
      for (const value of inside.values()) most = Math.max(most, value);
      next.set(one, own + most);
      hasGrown ||= own + most !== costs.get(one);
    }
    costs = next;
    if (top.some((one) => (costs.get(one) ?? 0) > mostApplications)) {
      const limit = mostApplications.toLocaleString("en-US");
      return `can apply its schemas more than ${limit} times to one value, so no value is checked with it`;
    }
    if (!hasGrown) return undefined;
  }
  return undefined;
}
