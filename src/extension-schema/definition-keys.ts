import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { type DefinitionShape, knownKeys } from "./generated/definition-validators.js";
import { valueAt } from "./pointer.ts";
import { findMisnamedKey, suggestKey } from "./suggest-key.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The keys of the objects inside definitions. A test compares them with the shapes. */
export const innerKeys = {
  annotations: ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
  option: ["default", "description"],
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

/** What each shape cannot do without: of each group one key. */
const requiredKeys: Readonly<Record<DefinitionShape, readonly (readonly string[])[]>> = {
  tool: [["name"], ["inputSchema", "parameters"], ["handler"]],
  composedServer: [],
  subprocessServer: [],
  serverDocument: [["metadata"], ["tools"]],
  toolsetList: [["name"], ["tools", "toolsets"]],
  toolsBundle: [["metadata"], ["entries"]],
  prompt: [["name"], ["content", "handler"]],
};

const shapesOfKind: Readonly<Record<Kind, readonly DefinitionShape[]>> = {
  server: ["composedServer", "subprocessServer", "serverDocument"],
  tool: ["tool"],
  toolset: ["toolsetList", "toolsBundle"],
  prompt: ["prompt"],
};

/** Whether a key means anything at the top of a definition of this kind, or is free for the author's own use. */
export function isDefinitionKey(kind: Kind, key: string): boolean {
  return key.startsWith("x-") || shapesOfKind[kind].some((shape) => knownKeys[shape].includes(key));
}

/** An object of a definition whose keys are known. */
interface KnownObject {
  object: Fields;
  known: readonly string[];
  /** Of each group, one key must be there. */
  required: readonly (readonly string[])[];
  /** From the definition's top. */
  path: Path;
}

function* findInnerObjects(definition: Fields): Generator<KnownObject> {
  const { annotations, options, arguments: parameters, entries } = definition;
  if (isRecord(annotations))
    yield { object: annotations, known: innerKeys.annotations, required: [], path: ["annotations"] };
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
    for (const inner of findInnerObjects({ annotations: object.annotations }))
      yield { ...inner, path: [...path, ...inner.path] };
  }
}

/** Every object of a definition whose keys are known; itself first. */
function* findKnownObjects(shape: DefinitionShape, definition: Fields): Generator<KnownObject> {
  yield { object: definition, known: knownKeys[shape], required: requiredKeys[shape], path: [] };
  const own = new Set<string>(knownKeys[shape]);
  yield* findInnerObjects(Object.fromEntries(Object.entries(definition).filter(([key]) => own.has(key))));
}

/** Unknown keys of one object that are compared with known ones. */
const maximumUnknown = 500;

/** The keys of an object that are neither known nor free for the author's own use. */
function unknownKeys({ object, known }: Pick<KnownObject, "object" | "known">): string[] {
  const isUnknown = (key: string) => !known.includes(key) && !/^(?:x-|\$)/.test(key);
  return Object.keys(object).filter(isUnknown).slice(0, maximumUnknown);
}

/** The known keys of the object at a path; found without a walk, since a bundle may have tens of thousands of entries. */
function knownKeysAt(shape: DefinitionShape, path: Path): readonly string[] | undefined {
  const [top, ...below] = path;
  if (top === undefined) return knownKeys[shape];
  if (path.at(-1) === "annotations") return innerKeys.annotations;
  if (below.length !== 1) return undefined;
  if (top === "options") return innerKeys.option;
  if (top === "arguments") return innerKeys.argument;
  return top === "entries" ? innerKeys.entry : undefined;
}

/** What stands in an object where one of some keys should; `undefined` where nothing is like them. */
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

/** A key that means nothing, and the one that is probably meant. */
export interface MisspeltKey {
  key: string;
  suggestion: string;
  /** From the definition's top. */
  path: Path;
}

/**
 * Unknown keys of a definition that are like a known one which is absent. What stands for a key without
 * which the definition is not valid is left to the problem that says so. Pure.
 */
export function* findMisspeltKeys(shape: DefinitionShape, definition: Fields): Generator<MisspeltKey> {
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
