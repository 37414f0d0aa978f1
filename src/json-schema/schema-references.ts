import { isRecord } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import { type Path, quote } from "../problems/index.ts";
import { keywords, type SchemaFault } from "./keywords.ts";
import {
  listSchemas,
  type PlacedSchema,
  referenceKeywords,
  type Schema,
  type SchemaSurvey,
} from "./schema-survey.ts";

/** A schema with its own address, and its anchors. */
interface Resource {
  top: PlacedSchema;
  /** Absolute, without fragment. */
  address: string;
  anchors: Map<string, Schema>;
}

/**
 * Limit on chains of schemas for the same value, not counting aliases. Checking needs several stack frames for each, whose size
 * depends on what the engine has compiled: 1,000 were too many on Node 24 in a process that had checked many schemas.
 */
const longestChain = 500;

const silentKeywords: ReadonlySet<string> = new Set(
  "$ref $comment $defs definitions title description default examples deprecated".split(" "),
);

/** Whether a schema only refers to another one. */
export const isAlias = (schema: Schema): boolean =>
  typeof schema.$ref === "string" && Object.keys(schema).every((key) => silentKeywords.has(key));

/** A placeholder for the schema's location. Addresses are only compared, never fetched. */
const nowhere = "schema://top/";

/** Keywords whose schemas apply to the same value as the enclosing schema. */
const inPlaceKeywords: ReadonlySet<unknown> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"],
]);

/** Limit on the characters of an address, so that nested ones take linear time. */
const longestAddress = 2000;

/** Resolves an address without its fragment; `undefined` if it is not valid. */
function resolveAddress(address: string, base: string): string | undefined {
  if (address.length + base.length > longestAddress || !URL.canParse(address, base)) return undefined;
  const { href, hash } = new URL(address, base);
  return href.slice(0, href.length - hash.length).replace(/#$/, "");
}

/** Adds a schema to its resource, according to `$id`. */
function addToResource(placed: PlacedSchema, resources: Map<Schema, Resource>): void {
  const { $id, $anchor, $dynamicAnchor } = placed.schema;
  const outer = placed.parent && resources.get(placed.parent.schema);
  const base = outer?.address ?? nowhere;
  // In draft-07, an `$id` that is only a fragment is an anchor.
  const opens = typeof $id === "string" && !$id.startsWith("#");
  const address = (opens ? resolveAddress($id, base) : undefined) ?? base;
  const resource = outer === undefined || opens ? { top: placed, address, anchors: new Map() } : outer;
  resources.set(placed.schema, resource);
  const names = [$anchor, $dynamicAnchor, typeof $id === "string" && !opens ? $id.slice(1) : undefined];
  for (const name of names) if (typeof name === "string") resource.anchors.set(name, placed.schema);
}

/** Resolves a reference: returns the target with its resource and path, or a fault. */
function resolveReference(
  reference: string,
  from: Resource,
  byAddress: ReadonlyMap<string, Resource>,
): { value: Schema | boolean; path: Path; resource: Resource } | { fault: string } {
  const resource = reference.startsWith("#")
    ? from
    : byAddress.get(resolveAddress(reference, from.address) ?? "");
  if (resource === undefined)
    return { fault: "points outside the schema; remote references are not supported" };
  let fragment: string;
  try {
    fragment = reference.includes("#") ? decodeURIComponent(reference.slice(reference.indexOf("#") + 1)) : "";
  } catch {
    return { fault: "is not a valid address" };
  }
  const isPointer = fragment === "" || fragment.startsWith("/");
  const path = isPointer ? readPointer(fragment, resource.top.schema) : [];
  const value = isPointer ? valueAt(resource.top.schema, path) : resource.anchors.get(fragment);
  const isSchema = isRecord(value) || typeof value === "boolean";
  return isSchema ? { value, path, resource } : { fault: "does not point to a schema" };
}

/** A step from one schema to another that applies to the same value; `path` is that of a reference. */
interface Edge {
  from: Schema;
  to: Schema;
  path: Path | undefined;
}

/** Finds a reference that closes a cycle, or starts a chain that is too long, of schemas for the same value. Uses no recursion. */
function findChainFault(edges: ReadonlyMap<Schema, readonly Edge[]>): SchemaFault | undefined {
  const incoming = new Map<Schema, number>();
  for (const { to } of [...edges.values()].flat()) incoming.set(to, (incoming.get(to) ?? 0) + 1);
  /** The longest chain before each schema, and its first reference. */
  const chains = new Map<Schema, { length: number; path: Path | undefined }>();
  let longest: { length: number; path: Path | undefined } = { length: 0, path: undefined };
  const done = [...edges.keys()].filter((schema) => !incoming.has(schema));
  for (const schema of done) {
    const { length: before = 0, path: first } = chains.get(schema) ?? {};
    const length = before + (isAlias(schema) ? 0 : 1);
    if (length > longest.length) longest = { length, path: first };
    for (const { to, path } of edges.get(schema) ?? []) {
      if (length >= (chains.get(to)?.length ?? 0))
        chains.set(to, { length, path: length === 0 ? undefined : (first ?? path) });
      incoming.set(to, (incoming.get(to) ?? 0) - 1);
      if (incoming.get(to) === 0) done.push(to);
    }
  }
  // What is not done is in a cycle or behind one, so each has such a step before it: going back ends in a cycle.
  const rest = new Set(edges.keys());
  for (const schema of done) rest.delete(schema);
  const steps = [...rest].flatMap((schema) => edges.get(schema) ?? []);
  const back = new Map(steps.map((step) => [step.to, step]));
  const seen = new Set<Edge>();
  for (let step = steps[0] && back.get(steps[0].from); step !== undefined; step = back.get(step.from)) {
    if (seen.has(step) && step.path !== undefined)
      return { what: "refers back to itself, so checking a value would never end", path: step.path };
    seen.add(step);
  }
  if (longest.length <= longestChain) return undefined;
  const what = `starts a chain of ${longest.length} schemas for the same value; the limit is ${longestChain}`;
  return { what, path: longest.path ?? [] };
}

/** The targets of a schema's references by keyword, for each schema inside it. */
export type ReferenceTargets = ReadonlyMap<Schema, ReadonlyMap<string, Schema | boolean>>;

/** The result of following the references of a schema. */
export interface FollowedReferences {
  targets: ReferenceTargets;
  /** Referenced schemas outside all known keywords. */
  elsewhere: readonly PlacedSchema[];
  /** References that are external, unresolvable, ambiguous, cyclic for one value, or chained too long. */
  faults: SchemaFault[];
}

/** Follows the references of a schema. Fetches nothing. */
export function followReferences({ draft, schemas }: SchemaSurvey): FollowedReferences {
  const targets = new Map<Schema, Map<string, Schema | boolean>>();
  const faults: SchemaFault[] = [];
  const referenceKeys = referenceKeywords.filter((key) => keywords[draft].has(key));
  if (!schemas.some(({ schema }) => referenceKeys.some((key) => typeof schema[key] === "string")))
    return { targets, elsewhere: [], faults };

  const long = schemas.find(({ schema: { $id } }) => typeof $id === "string" && $id.length > longestAddress);
  if (long !== undefined) {
    const what = `is longer than ${longestAddress.toLocaleString("en-US")} characters`;
    return { targets, elsewhere: [], faults: [{ what, path: [...long.path, "$id"] }] };
  }
  const resources = new Map<Schema, Resource>();
  const all = [...schemas];
  for (const placed of all) addToResource(placed, resources);
  const byAddress = new Map([...new Set(resources.values())].map((one) => [one.address, one]));
  const seen = new Set(all.map(({ schema }) => schema));
  const edges = new Map<Schema, Edge[]>(all.map(({ schema }) => [schema, []]));
  const dynamicAnchors = all.map(({ schema }) => schema.$dynamicAnchor);
  // Which of several schemas with one anchor a dynamic reference means would depend on the way to it.
  const isAmbiguous = (reference: string) =>
    dynamicAnchors.filter((anchor) => anchor === reference.split("#")[1]).length > 1;

  for (const placed of all) {
    const { schema, parent } = placed;
    const steps = placed.path.slice(parent?.path.length);
    if (parent !== undefined && inPlaceKeywords.has(steps[0]) && steps.length <= 2)
      edges.get(parent.schema)?.push({ from: parent.schema, to: schema, path: undefined });
    const resource = resources.get(schema);
    for (const key of referenceKeys) {
      const reference = schema[key];
      if (typeof reference !== "string" || resource === undefined) continue;
      const path = [...placed.path, key];
      const target = resolveReference(reference, resource, byAddress);
      if ("fault" in target) {
        faults.push({ what: `${target.fault} (${quote(reference)})`, path });
        continue;
      }
      const { value } = target;
      if (key === "$dynamicRef" && isAmbiguous(reference))
        faults.push({
          what: `may refer to several schemas (${quote(reference)}), which is not supported`,
          path,
        });
      targets.set(schema, (targets.get(schema) ?? new Map<string, Schema | boolean>()).set(key, value));
      if (!isRecord(value)) continue;
      // Unless it has been seen, the target is outside all known keywords, for example in a custom keyword.
      for (const found of listSchemas(
        { schema: value, parent: target.resource.top, path: [...target.resource.top.path, ...target.path] },
        draft,
        seen,
      )) {
        edges.set(found.schema, []);
        resources.set(found.schema, target.resource);
        all.push(found);
      }
      edges.get(schema)?.push({ from: schema, to: value, path });
    }
  }
  const chainFault = findChainFault(edges);
  if (chainFault !== undefined) faults.push(chainFault);
  return { targets, elsewhere: all.slice(schemas.length), faults };
}
