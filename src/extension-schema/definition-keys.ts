import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { type DefinitionShape, definitionShapes } from "./definition-schema.ts";
import { valueAt } from "./pointer.ts";
import { findMisnamedKey, suggestKey } from "./suggest-key.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The top-level keys of each shape. */
export const knownKeys = (shape: DefinitionShape): readonly string[] =>
  Object.keys(definitionShapes[shape].shape);

/** The keys of the objects inside definitions. A test compares them with the shapes. */
export const innerKeys = {
  annotations: ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
  option: ["default", "description"],
  resourceAnnotations: ["audience", "priority", "lastModified"],
  argument: ["name", "title", "description", "required"],
  entry: [
    "name",
    "title",
    "description",
    "argumentsSchema",
    "outputSchema",
    "annotations",
    "_meta",
    "handler",
    "inputs",
    "result",
    "catches",
  ],
} as const;

/** The required keys of each shape: one key of each group. */
const requiredKeys: Readonly<Record<DefinitionShape, readonly (readonly string[])[]>> = {
  tool: [["name"], ["inputSchema", "parameters"], ["handler"]],
  composedServer: [],
  subprocessServer: [],
  serverDocument: [["metadata"], ["tools"]],
  toolsetList: [["name"], ["tools", "toolsets"]],
  toolsBundle: [["metadata"], ["entries"]],
  prompt: [["name"], ["content", "handler"]],
  resource: [["name"], ["uri", "uriTemplate"], ["text", "file", "handler"]],
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

/** An object inside a definition with a known set of keys. */
interface KnownObject {
  object: Fields;
  known: readonly string[];
  /** One key of each group is required. */
  required: readonly (readonly string[])[];
  /** From the definition's top. */
  path: Path;
}

/** The keys of `annotations`, which MCP has for tools and, others, for contents. */
const annotationKeys = (shape: DefinitionShape): readonly string[] =>
  shape === "resource" ? innerKeys.resourceAnnotations : innerKeys.annotations;

function* findInnerObjects(shape: DefinitionShape, definition: Fields): Generator<KnownObject> {
  const { annotations, options, arguments: parameters, entries } = definition;
  if (isRecord(annotations))
    yield { object: annotations, known: annotationKeys(shape), required: [], path: ["annotations"] };
  for (const [name, object] of isRecord(options) ? Object.entries(options) : []) {
    if (isRecord(object)) yield { object, known: innerKeys.option, required: [], path: ["options", name] };
  }
  for (const [index, object] of Array.isArray(parameters) ? parameters.entries() : []) {
    const path = ["arguments", index];
    if (isRecord(object)) yield { object, known: innerKeys.argument, required: [["name"]], path };
  }
  for (const [index, object] of Array.isArray(entries) ? entries.entries() : []) {
    const path = ["entries", index];
    if (!isRecord(object)) continue;
    yield { object, known: innerKeys.entry, required: [["name"], ["handler"]], path };
    for (const inner of findInnerObjects(shape, { annotations: object.annotations }))
      yield { ...inner, path: [...path, ...inner.path] };
  }
}

/** The definition itself and every object inside it with a known set of keys. */
function* findKnownObjects(shape: DefinitionShape, definition: Fields): Generator<KnownObject> {
  yield { object: definition, known: knownKeys(shape), required: requiredKeys[shape], path: [] };
  const own = new Set<string>(knownKeys(shape));
  yield* findInnerObjects(
    shape,
    Object.fromEntries(Object.entries(definition).filter(([key]) => own.has(key))),
  );
}

/** Limit on the unknown keys of one object that are compared with known ones. */
const maximumUnknown = 500;

/** The keys of an object that are neither known nor custom. */
function unknownKeys({ object, known }: Pick<KnownObject, "object" | "known">): string[] {
  const isUnknown = (key: string) => !known.includes(key) && !/^(?:x-|\$)/.test(key);
  return Object.keys(object).filter(isUnknown).slice(0, maximumUnknown);
}

/** The known keys of the object at a path. Avoids a walk: a bundle may have tens of thousands of entries. */
function knownKeysAt(shape: DefinitionShape, path: Path): readonly string[] | undefined {
  const [top, ...below] = path;
  if (top === undefined) return knownKeys(shape);
  if (path.at(-1) === "annotations") return annotationKeys(shape);
  if (below.length !== 1) return undefined;
  if (top === "options") return innerKeys.option;
  if (top === "arguments") return innerKeys.argument;
  return top === "entries" ? innerKeys.entry : undefined;
}

/** A key of an object that probably stands for one of the missing keys; `undefined` if none is similar. */
export function findMisnamedKeyAt(
  shape: DefinitionShape,
  definition: Fields,
  path: Path,
  missing: readonly string[],
): { key: string; written: string } | undefined {
  const object = valueAt(definition, path);
  const known = knownKeysAt(shape, path);
  return isRecord(object) && known !== undefined
    ? findMisnamedKey(missing, unknownKeys({ object, known }))
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
export function* findMisspelledKeys(shape: DefinitionShape, definition: Fields): Generator<MisspelledKey> {
  for (const one of findKnownObjects(shape, definition)) {
    const { object, known, required, path } = one;
    const unknown = unknownKeys(one);
    if (unknown.length === 0) continue;
    const isAbsent = (key: string) => object[key] === undefined;
    const lacking = required.filter((group) => group.every(isAbsent));
    const reported = new Set(lacking.map((group) => findMisnamedKey(group, unknown)?.written));
    const absent = known.filter((key) => isAbsent(key) && !lacking.some((group) => group.includes(key)));
    for (const key of unknown) {
      const suggestion = reported.has(key) ? undefined : suggestKey(key, absent);
      if (suggestion !== undefined) yield { key, suggestion, path: [...path, key] };
    }
  }
}
