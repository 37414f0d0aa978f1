import { isRecord } from "../data/parse-json.ts";
import { readPointer, valueAt } from "../extension-schema/pointer.ts";
import { quote } from "../problems/index.ts";
import { type Edge, findChains } from "./schema-loops.ts";
import { listSchemas, pathOf, type SchemaNode } from "./schema-nodes.ts";
import {
  type Draft,
  findKeyword,
  referenceKeywords,
  type Schema,
  type SchemaFault,
  type SchemaPath,
  type SchemaSurvey,
  surveyInDraft,
} from "./schema-survey.ts";

/** A schema with its own address, and its anchors. */
export interface Resource {
  top: SchemaNode;
  /** Absolute, without fragment. */
  address: string;
  anchors: Map<string, Schema>;
  /** The dynamic anchors by name. */
  dynamicAnchors: Map<string, Schema>;
}

/** The resource of each schema, and the targets of its references by keyword. */
export interface ResolvedReferences {
  resources: ReadonlyMap<Schema, Resource>;
  targets: ReadonlyMap<Schema, ReadonlyMap<string, Schema | boolean>>;
}

/**
 * Limit on chains of schemas for the same value, not counting aliases. Checking needs several stack frames for each, whose size
 * depends on what the engine has compiled: 1,000 were too many on Node 24 in a process that had checked many schemas.
 */
const longestChain = 500;

const silentKeywords: ReadonlySet<string> = new Set([
  ...[
    "$ref",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
  ],
]);

/** Whether a schema only refers to another one. */
export const isAlias = (schema: Schema): boolean =>
  typeof schema.$ref === "string" && Object.keys(schema).every((key) => silentKeywords.has(key));

/** A placeholder for the schema's location. Addresses are only compared, never fetched. */
const nowhere = "schema://top/";

/** Keywords whose schemas apply to the same value as the enclosing schema. */
const inPlaceKeywords: ReadonlySet<unknown> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"],
]);

/** Limit on the total characters of addresses and their bases in one schema. */
const mostCharacters = 100_000_000;

/** The remaining characters. */
interface AddressBudget {
  characters: number;
}

/** Resolves an address without its fragment; `undefined` if it is not valid or the budget is spent. */
function resolveAddress(address: string, base: string, budget: AddressBudget): string | undefined {
  budget.characters -= address.length + base.length;
  if (budget.characters < 0) return undefined;
  if (!URL.canParse(address, base)) return undefined;
  const { href, hash } = new URL(address, base);
  return href.slice(0, href.length - hash.length).replace(/#$/, "");
}

/** Adds a schema to its resource, according to `$id`. */
function addToResource(node: SchemaNode, resources: Map<Schema, Resource>, budget: AddressBudget): void {
  const { $id, $anchor, $dynamicAnchor } = node.schema;
  const outer = node.parent === undefined ? undefined : resources.get(node.parent.schema);
  const base = outer?.address ?? nowhere;
  // In draft-07, an `$id` that is only a fragment is an anchor.
  const opens = typeof $id === "string" && !$id.startsWith("#");
  const resource =
    outer === undefined || opens
      ? {
          top: node,
          address: (opens ? resolveAddress($id, base, budget) : undefined) ?? base,
          anchors: new Map(),
          dynamicAnchors: new Map(),
        }
      : outer;
  resources.set(node.schema, resource);
  const names = [$anchor, $dynamicAnchor, typeof $id === "string" && !opens ? $id.slice(1) : undefined];
  for (const name of names) if (typeof name === "string") resource.anchors.set(name, node.schema);
  if (typeof $dynamicAnchor === "string") resource.dynamicAnchors.set($dynamicAnchor, node.schema);
}

/** Resolves a reference: returns the target with its resource and path, or a fault. */
function resolveReference(
  reference: string,
  from: Resource,
  byAddress: ReadonlyMap<string, Resource>,
  budget: AddressBudget,
): { value: unknown; path: SchemaPath; resource: Resource } | { fault: string } {
  const resource = reference.startsWith("#")
    ? from
    : byAddress.get(resolveAddress(reference, from.address, budget) ?? "");
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

/** The result of following the references of a schema. */
export interface FollowedReferences extends ResolvedReferences {
  /** Surveys of referenced schemas outside all known keywords. */
  elsewhere: SchemaSurvey[];
  /** References that are external, unresolvable, cyclic for one value, or chained too long. */
  faults: SchemaFault[];
}

/** Finds references that close a cycle, or start a chain that is too long, of schemas for the same value. */
function findChainFaults(edges: ReadonlyMap<Schema, readonly Edge[]>): SchemaFault[] {
  const { loops, longest } = findChains(edges, isAlias);
  const endless = "refers back to itself, so checking a value would never end";
  if (loops.length > 0) return loops.map((path) => ({ what: endless, path }));
  if (longest.length <= longestChain) return [];
  const what = `starts a chain of ${longest.length} schemas for the same value; the limit is ${longestChain}`;
  return [{ what, path: longest.path ?? [] }];
}

/** Follows the references of a schema. Fetches nothing. */
export function followReferences(whole: Schema, draft: Draft): FollowedReferences {
  const elsewhere: SchemaSurvey[] = [];
  const faults: SchemaFault[] = [];
  const resources = new Map<Schema, Resource>();
  const seen = new Set<Schema>();
  const nodes = listSchemas({ schema: whole, parent: undefined, steps: [] }, draft, seen);
  const budget = { characters: mostCharacters };
  for (const node of nodes) addToResource(node, resources, budget);
  const byAddress = new Map([...new Set(resources.values())].map((one) => [one.address, one]));
  const referenceKeys = referenceKeywords.filter((key) => findKeyword(draft, key) !== undefined);
  const edges = new Map<Schema, Edge[]>(nodes.map(({ schema }) => [schema, []]));
  const targets = new Map<Schema, Map<string, Schema | boolean>>();

  for (const node of nodes) {
    const { schema, parent, steps } = node;
    const isInPlace = inPlaceKeywords.has(steps[0]) && steps.length <= 2;
    if (parent !== undefined && isInPlace) edges.get(parent.schema)?.push({ to: schema });
    const resource = resources.get(schema);
    for (const key of referenceKeys) {
      const reference = schema[key];
      if (typeof reference !== "string" || resource === undefined) continue;
      const path = [...pathOf(node), key];
      const target = resolveReference(reference, resource, byAddress, budget);
      if ("fault" in target) {
        faults.push({ what: `${target.fault} (${quote(reference)})`, path });
        continue;
      }
      const known = targets.get(schema) ?? new Map<string, Schema | boolean>();
      targets.set(schema, known.set(key, target.value as Schema | boolean));
      if (!isRecord(target.value)) continue;
      if (!seen.has(target.value)) {
        // The target is outside all known keywords, for example in a custom keyword.
        const top = { schema: target.value, parent: target.resource.top, steps: target.path };
        elsewhere.push(surveyInDraft(target.value, draft, pathOf(top)));
        for (const found of listSchemas(top, draft, seen)) {
          edges.set(found.schema, []);
          resources.set(found.schema, target.resource);
          nodes.push(found);
        }
      }
      edges.get(schema)?.push({ to: target.value, referencePath: path });
    }
  }
  faults.push(...findChainFaults(edges));
  if (budget.characters < 0) {
    const limit = mostCharacters.toLocaleString("en-US");
    // The faults of single references may be wrong in this case.
    const what = `has too many long addresses in $id and $ref; the limit is ${limit} characters in total`;
    return { elsewhere, faults: [{ what, path: [] }], resources, targets };
  }
  return { elsewhere, faults, resources, targets };
}
