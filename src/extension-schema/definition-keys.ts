import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { type DefinitionShape, definitionShapes } from "./definition-schema.ts";
import { type AnySchema, partsOf, type SchemaParts } from "./shape-faults.ts";

type Fields = Readonly<Record<string, unknown>>;

const shapesOfKind: Readonly<Record<Kind, readonly DefinitionShape[]>> = {
  server: ["composedServer", "subprocessServer", "serverDocument"],
  tool: ["tool"],
  toolset: ["toolsetList", "toolsBundle"],
  prompt: ["prompt"],
  resource: ["resource"],
  skill: [],
};

/** Whether a top-level key of a definition of this kind is known or custom. A skill may have any. */
export function isDefinitionKey(kind: Kind, key: string): boolean {
  return (
    kind === "skill" ||
    key === "$schema" ||
    key.startsWith("x-") ||
    shapesOfKind[kind].some((shape) => Object.hasOwn(definitionShapes[shape].shape, key))
  );
}

/** The objects with known keys in a value, from the outside in. */
function* findShapedObjects(
  schema: AnySchema,
  value: unknown,
  path: Path,
): Generator<{ object: Fields; shape: NonNullable<SchemaParts["shape"]>; path: Path }> {
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
/** Limit on the length of keys that get suggestions: comparing longer keys is slow. */
const maximumLength = 40;

/** Keys of a definition that are neither known nor custom, with the absent known one that each is similar to. Pure. */
export function* findMisspelledKeys(
  top: DefinitionShape,
  definition: Fields,
): Generator<{ key: string; suggestion: string; path: Path }> {
  for (const { object, shape, path } of findShapedObjects(definitionShapes[top], definition, [])) {
    const isUnknown = (key: string) => !Object.hasOwn(shape, key) && !/^(?:x-|\$)/.test(key);
    const absent = Object.keys(shape).filter((key) => object[key] === undefined);
    for (const key of Object.keys(object).filter(isUnknown).slice(0, maximumUnknown)) {
      const [suggestion] = key.length > maximumLength ? [] : findNearestNames(key, absent);
      if (suggestion !== undefined) yield { key, suggestion, path: [...path, key] };
    }
  }
}
