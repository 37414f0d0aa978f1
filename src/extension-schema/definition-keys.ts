import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import type { Path } from "../problems/index.ts";
import { type DefinitionShape, knownKeys } from "./generated/definition-validators.js";
import { findMeantKey, findStandIn } from "./meant-key.ts";
import { valueAt } from "./pointer.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The keys of the maps inside definitions. A test compares them with the shapes. */
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

/** A map of a definition whose keys are known. */
interface KnownMap {
  map: Fields;
  known: readonly string[];
  /** Of each group, one key must be there. */
  required: readonly (readonly string[])[];
  /** From the definition's top. */
  path: Path;
}

function* findInnerMaps(definition: Fields): Generator<KnownMap> {
  const { annotations, options, arguments: parameters, entries } = definition;
  if (isRecord(annotations))
    yield { map: annotations, known: innerKeys.annotations, required: [], path: ["annotations"] };
  for (const [name, map] of isRecord(options) ? Object.entries(options) : []) {
    if (isRecord(map)) yield { map, known: innerKeys.option, required: [], path: ["options", name] };
  }
  for (const [index, map] of Array.isArray(parameters) ? parameters.entries() : []) {
    const path = ["arguments", index];
    if (isRecord(map)) yield { map, known: innerKeys.argument, required: [["name"]], path };
  }
  for (const [index, map] of Array.isArray(entries) ? entries.entries() : []) {
    const path = ["entries", index];
    if (!isRecord(map)) continue;
    yield { map, known: innerKeys.entry, required: [["name"], ["handler"]], path };
    for (const inner of findInnerMaps({ annotations: map.annotations }))
      yield { ...inner, path: [...path, ...inner.path] };
  }
}

/** Every map of a definition whose keys are known; itself first. */
function* findKnownMaps(shape: DefinitionShape, definition: Fields): Generator<KnownMap> {
  yield { map: definition, known: knownKeys[shape], required: requiredKeys[shape], path: [] };
  const own = new Set<string>(knownKeys[shape]);
  yield* findInnerMaps(Object.fromEntries(Object.entries(definition).filter(([key]) => own.has(key))));
}

/** Beyond so many in one map, nobody looks for slips of the pen. */
const maximumUnknown = 500;

/** The keys of a map that are neither known nor free for the author's own use. */
function unknownKeys({ map, known }: Pick<KnownMap, "map" | "known">): string[] {
  const isUnknown = (key: string) => !known.includes(key) && !/^(?:x-|\$)/.test(key);
  return Object.keys(map).filter(isUnknown).slice(0, maximumUnknown);
}

/** The known keys of the map at a path; found without a walk, since a bundle may have tens of thousands of entries. */
function knownKeysAt(shape: DefinitionShape, path: Path): readonly string[] | undefined {
  const [top, ...below] = path;
  if (top === undefined) return knownKeys[shape];
  if (path.at(-1) === "annotations") return innerKeys.annotations;
  if (below.length !== 1) return undefined;
  if (top === "options") return innerKeys.option;
  if (top === "arguments") return innerKeys.argument;
  return top === "entries" ? innerKeys.entry : undefined;
}

/** What stands in a map where one of some keys should; `undefined` where nothing is like them. */
export function findStandInAt(
  shape: DefinitionShape,
  definition: Fields,
  path: Path,
  missing: readonly string[],
): { key: string; written: string } | undefined {
  const map = valueAt(definition, path);
  const known = knownKeysAt(shape, path);
  return isRecord(map) && known !== undefined ? findStandIn(missing, unknownKeys({ map, known })) : undefined;
}

/** A key that means nothing, and the one that is probably meant. */
export interface MisspeltKey {
  key: string;
  suggestion: string;
  /** From the definition's top. */
  path: Path;
}

/**
 * Keys of a definition that nobody knows and that are like a known one which is absent. What stands for a key without
 * which the definition is not valid is left to the problem that says so. Pure.
 */
export function* findMisspeltKeys(shape: DefinitionShape, definition: Fields): Generator<MisspeltKey> {
  for (const one of findKnownMaps(shape, definition)) {
    const { map, known, required, path } = one;
    const unknown = unknownKeys(one);
    if (unknown.length === 0) continue;
    const isAbsent = (key: string) => map[key] === undefined;
    const lacking = required.filter((group) => group.every(isAbsent));
    const reported = new Set(lacking.map((group) => findStandIn(group, unknown)?.written));
    const absent = known.filter((key) => isAbsent(key) && !lacking.some((group) => group.includes(key)));
    for (const key of unknown) {
      const suggestion = reported.has(key) ? undefined : findMeantKey(key, absent);
      if (suggestion !== undefined) yield { key, suggestion, path: [...path, key] };
    }
  }
}
