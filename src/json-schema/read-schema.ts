import { memoize } from "../data/memoize.ts";
import { isRecord } from "../data/parse-json.ts";
import { describeValue, readPointer, valueAt } from "../extension-schema/pointer.ts";
import { type Path, quote } from "../problems/index.ts";
import { keywords, type SchemaFault } from "./meta-schema.ts";
import { explainInvalidPattern } from "./patterns/linear-pattern.ts";
import { measureWork } from "./schema-work.ts";

export type Draft = keyof typeof keywords;

export type Schema = Readonly<Record<string, unknown>>;

export interface PlacedSchema {
  schema: Schema;
  /** The address of the resource that it is in. */
  base: string;
  /** From the top. */
  path: Path;
}

/** A reference of a schema, with the path of its keyword and the schema that it means. */
export interface Reference {
  path: Path;
  target: Schema | boolean;
}

export type References = ReadonlyMap<Schema, readonly Reference[]>;

export interface SchemaReading {
  draft: Draft | undefined;
  /** The schema and all inside it, in the order of the text, each once; then those elsewhere that references mean. */
  schemas: readonly PlacedSchema[];
  references: References;
  faults: readonly SchemaFault[];
  /** How often its schemas can be applied to one value. */
  work: number;
}

/** The values of `$schema` that name a draft. */
const addresses: Readonly<Record<Draft, RegExp>> = {
  draft2020: /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
  draft07: /^http:\/\/json-schema\.org\/draft-07\/schema#?$/,
};

/** Limit on the characters of an address, so that nested ones take linear time. */
const longestAddress = 2000;
/** A placeholder for the schema's location. Addresses are only compared, never fetched. */
const nowhere = "schema://top/";

/** The draft of a schema, 2020-12 by default; `undefined` for unsupported ones. */
const findDraft = ({ $schema = "https://json-schema.org/draft/2020-12/schema" }: Schema) =>
  (Object.keys(addresses) as Draft[]).find(
    (draft) => typeof $schema === "string" && addresses[draft].test($schema),
  );

/** Resolves an address and leaves out its fragment; `undefined` if it is not valid. */
function resolveAddress(address: string, base: string): string | undefined {
  if (address.length + base.length > longestAddress || !URL.canParse(address, base)) return undefined;
  return new URL(address, base).href.replace(/#.*/s, "");
}

/** Where the schemas are that references can name: by address the top of a resource, by address and fragment what has an anchor. */
type Places = Map<string, PlacedSchema>;

/** A schema and its subschemas, in the order of the text. Skips those in `seen`, and adds the others to it and to `places`. */
function listSchemas(top: PlacedSchema, draft: Draft, seen: Set<Schema>, places: Places): PlacedSchema[] {
  const found: PlacedSchema[] = [];
  const visit = (schema: Schema, outer: string, path: Path) => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const { $id, $anchor, $dynamicAnchor } = schema;
    const base = (typeof $id === "string" ? resolveAddress($id, outer) : undefined) ?? outer;
    const placed = { schema, base, path };
    found.push(placed);
    if (!places.has(base)) places.set(base, placed);
    // In draft-07, an `$id` can have an anchor.
    for (const name of [$anchor, $dynamicAnchor, typeof $id === "string" && $id.split("#")[1]])
      if (typeof name === "string") places.set(`${base}#${name}`, placed);
    for (const [key, value] of Object.entries(schema)) {
      const { holds = [] } = (typeof value === "object" && keywords[draft].get(key)) || {};
      if (isRecord(value) && holds.includes("itself")) visit(value, base, [...path, key]);
      if (value === null || !holds.includes(Array.isArray(value) ? "list" : "object")) continue;
      for (const [name, inner] of Object.entries(value as object))
        if (isRecord(inner)) visit(inner, base, [...path, key, Array.isArray(value) ? Number(name) : name]);
    }
  };
  visit(top.schema, top.base, top.path);
  return found;
}

/** The regular expressions of a schema itself, with their paths; for keys of `patternProperties`, the path of the value. */
export function listPatterns({ schema, path }: PlacedSchema): { pattern: string; path: Path }[] {
  const { pattern, patternProperties } = schema;
  const keys = isRecord(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === "string" ? [{ pattern, path: [...path, "pattern"] }] : []),
    ...keys.map((key) => ({ pattern: key, path: [...path, "patternProperties", key] })),
  ];
}

/** What the meta-schema says against a schema itself, and its invalid patterns. Runs none. */
function* findOwnFaults(placed: PlacedSchema, draft: Draft): Generator<SchemaFault> {
  for (const [key, value] of Object.entries(placed.schema))
    for (const { what, path } of keywords[draft].get(key)?.findFaults(value) ?? [])
      yield { what, path: [...placed.path, key, ...path] };
  for (const { pattern, path } of listPatterns(placed)) {
    const reason = explainInvalidPattern(pattern);
    if (reason !== undefined) yield { what: `is not a regular expression (${reason})`, path };
  }
}

function resolveReference(reference: string, base: string, places: Places) {
  const [written = "", ...rest] = reference.split("#");
  // The fragment keeps the address itself where it is opaque, as of a URN.
  const address = resolveAddress(`${written}#`, base) ?? "";
  const top = places.get(address);
  if (top === undefined) return "points outside the schema; remote references are not supported";
  let fragment: string;
  try {
    fragment = decodeURIComponent(rest.join("#"));
  } catch {
    return "is not a valid address";
  }
  const isPointer = fragment === "" || fragment.startsWith("/");
  const path = isPointer ? readPointer(fragment, top.schema) : [];
  const anchored = places.get(`${address}#${fragment}`)?.schema;
  const schema = isPointer ? valueAt(top.schema, path) : anchored;
  if (typeof schema !== "boolean" && !isRecord(schema)) return "does not point to a schema";
  return { schema, base: top.base, path: [...top.path, ...path] };
}

/** Follows the references of schemas. Adds the schemas outside all known keywords that they mean. Fetches nothing. */
function followReferences(
  schemas: PlacedSchema[],
  places: Places,
  draft: Draft,
  faults: SchemaFault[],
): References {
  const references = new Map<Schema, Reference[]>();
  const keys = ["$ref", "$dynamicRef", "$recursiveRef"].filter((key) => keywords[draft].has(key));
  const seen = new Set(schemas.map(({ schema }) => schema));
  for (const { schema, base, path: at } of schemas) {
    for (const key of keys) {
      const reference = schema[key];
      if (typeof reference !== "string") continue;
      const path = [...at, key];
      const found = resolveReference(reference, base, places);
      if (typeof found === "string") {
        faults.push({ what: `${found} (${quote(reference)})`, path });
        continue;
      }
      const { schema: target, ...place } = found;
      references.set(schema, [...(references.get(schema) ?? []), { path, target }]);
      if (!isRecord(target)) continue;
      for (const other of listSchemas({ schema: target, ...place }, draft, seen, places)) schemas.push(other);
    }
  }
  // Which of several schemas with one anchor a dynamic reference means would depend on the way to it.
  const anchors = schemas.flatMap(({ schema }) => schema.$dynamicAnchor ?? []);
  const last = new Map(anchors.map((anchor, index) => [anchor, index]));
  const repeated = new Set(anchors.filter((anchor, index) => last.get(anchor) !== index));
  for (const [{ $dynamicRef }, found] of references)
    for (const { path } of found.filter((one) => one.path.at(-1) === "$dynamicRef")) {
      const written = String($dynamicRef);
      const fragment = decodeURIComponent(written.replace(/^[^#]*#?/, ""));
      const what = `may refer to several schemas (${quote(written)}), which is not supported`;
      if (repeated.has(fragment)) faults.push({ what, path });
    }
  return references;
}

/**
 * Finds the schemas inside a schema, once, with their references and faults: violations of its meta-schema, invalid patterns,
 * references that are external, unresolvable, cyclic or chained too long, and that it can take too much work. Pure; runs no patterns.
 */
export const readSchema = memoize((schema: Schema): SchemaReading => {
  const draft = findDraft(schema);
  if (draft === undefined) {
    const known = "must be the URI of JSON Schema 2020-12 or draft-07";
    const fault = { what: `${known}, but it is ${describeValue(schema.$schema)}`, path: ["$schema"] };
    return { draft, schemas: [], references: new Map(), faults: [fault], work: 0 };
  }
  const places: Places = new Map();
  const schemas = listSchemas({ schema, base: nowhere, path: [] }, draft, new Set(), places);
  const faultsOfReferences: SchemaFault[] = [];
  const references = followReferences(schemas, places, draft, faultsOfReferences);
  const ownFaults = schemas.flatMap((placed) => [...findOwnFaults(placed, draft)]);
  const faults = [...ownFaults, ...faultsOfReferences];
  const work = faults.length === 0 ? measureWork(schemas, references) : 0;
  if (typeof work === "object") faults.push(work);
  return { draft, schemas, references, faults, work: Number(work) };
}, new WeakMap());
