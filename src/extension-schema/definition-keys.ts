import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { type DefinitionShape, definitionShapes } from "./definition-schema.ts";
import { valueAt } from "./pointer.ts";
import { type AnySchema, partsOf, type SchemaParts } from "./shape-faults.ts";
import { findMisnamedKey, suggestKey } from "./suggest-key.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The top-level keys of each shape. */
export const knownKeys = (shape: DefinitionShape): readonly string[] =>
  Object.keys(definitionShapes[shape].shape);

/** Groups of keys of which a definition needs one, beside the keys that its shape requires. */
export const alternativeKeys: Readonly<Partial<Record<DefinitionShape, readonly (readonly string[])[]>>> = {
  tool: [["inputSchema", "parameters"]],
  toolsetList: [["tools", "toolsets"]],
  prompt: [["content", "handler"]],
  resource: [
    ["uri", "uriTemplate"],
    ["text", "file", "handler"],
  ],
};

const shapesOfKind: Readonly<Record<Kind, readonly DefinitionShape[]>> = {
  server: ["composedServer", "subprocessServer", "serverDocument"],
  tool: ["tool"],
  toolset: ["toolsetList", "toolsBundle"],
  prompt: ["prompt"],
  resource: ["resource"],
};

/** Whether a top-level key of a definition of this kind is known or custom. */
export function isDefinitionKey(kind: Kind, key: string): boolean {
  return (
    key === "$schema" ||
    key.startsWith("x-") ||
    shapesOfKind[kind].some((shape) => knownKeys(shape).includes(key))
  );
}

/** An object of a definition with the shape that says its keys. */
interface ShapedObject {
  object: Fields;
  shape: NonNullable<SchemaParts["shape"]>;
  /** From the definition's top. */
  path: Path;
}

/** The objects with known keys in a value, from the outside in. */
function* findShapedObjects(schema: AnySchema, value: unknown, path: Path): Generator<ShapedObject> {
  const { element, valueType, shape } = partsOf(schema);
  for (const [index, entry] of element !== undefined && Array.isArray(value) ? value.entries() : [])
    yield* findShapedObjects(element as AnySchema, entry, [...path, index]);
  if (!isRecord(value)) return;
  if (shape !== undefined) yield { object: value, shape, path };
  for (const [key, entry] of Object.entries(value)) {
    const inner = valueType ?? (shape !== undefined && Object.hasOwn(shape, key) ? shape[key] : undefined);
    if (inner !== undefined) yield* findShapedObjects(inner, entry, [...path, key]);
  }
}

/** Limit on the unknown keys of one object that are compared with known ones. */
const maximumUnknown = 500;

/** The keys of an object that are neither known nor custom. */
function unknownKeys({ object, shape }: Omit<ShapedObject, "path">): string[] {
  const isUnknown = (key: string) => !Object.hasOwn(shape, key) && !/^(?:x-|\$)/.test(key);
  return Object.keys(object).filter(isUnknown).slice(0, maximumUnknown);
}

/** A key of an object that probably stands for one of the missing keys; `undefined` if none is similar. */
export function findMisnamedKeyAt(
  top: DefinitionShape,
  definition: Fields,
  path: Path,
  missing: readonly string[],
): { key: string; written: string } | undefined {
  let schema: AnySchema | undefined = definitionShapes[top];
  for (const key of path) {
    const { element, valueType, shape } = partsOf(schema);
    schema = element ?? valueType ?? shape?.[key];
    if (schema === undefined) return undefined;
  }
  const object = valueAt(definition, path);
  const { shape } = partsOf(schema);
  return isRecord(object) && shape !== undefined
    ? findMisnamedKey(missing, unknownKeys({ object, shape }))
    : undefined;
}

/** An unknown key with the known key that it probably stands for. */
export interface MisspelledKey {
  key: string;
  suggestion: string;
  /** From the definition's top. */
  path: Path;
}

/**
 * Unknown keys of a definition that are similar to an absent known key. Misspelled required keys are excluded: the
 * problem about the missing key suggests them. Pure.
 */
export function* findMisspelledKeys(top: DefinitionShape, definition: Fields): Generator<MisspelledKey> {
  for (const { object, shape, path } of findShapedObjects(definitionShapes[top], definition, [])) {
    const unknown = unknownKeys({ object, shape });
    if (unknown.length === 0) continue;
    const isAbsent = (key: string) => object[key] === undefined;
    const required = Object.keys(shape).filter((key) => shape[key]?._zod.optin === undefined);
    const groups = [...required.map((key) => [key]), ...((path.length === 0 && alternativeKeys[top]) || [])];
    const lacking = groups.filter((group) => group.every(isAbsent));
    const reported = new Set(lacking.map((group) => findMisnamedKey(group, unknown)?.written));
    const absent = Object.keys(shape).filter(
      (key) => isAbsent(key) && !lacking.some((group) => group.includes(key)),
    );
    for (const key of unknown) {
      const suggestion = reported.has(key) ? undefined : suggestKey(key, absent);
      if (suggestion !== undefined) yield { key, suggestion, path: [...path, key] };
    }
  }
}
