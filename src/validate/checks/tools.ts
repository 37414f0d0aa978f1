import { isRecord } from "../../data/parse-json.ts";
import { findMetaProblems } from "../../extension-schema/meta-schema.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";

/** A tool as clients see it: an item or an entry of a bundle. */
export interface WrittenTool {
  item: InspectedItem;
  definition: Readonly<Record<string, unknown>>;
  /** The path from the top of the item's definition. */
  path: Path;
  isEntry: boolean;
}

/** Every tool in a pack's definitions, including entries of bundles, in order. */
export function* findTools(items: readonly InspectedItem[]): Generator<WrittenTool> {
  for (const item of items) {
    const { shape, definition } = item;
    if (definition === null) continue;
    if (shape === "tool") yield { item, definition, path: [], isEntry: false };
    if (shape !== "toolsBundle" || !Array.isArray(definition.entries)) continue;
    for (const [index, entry] of definition.entries.entries()) {
      if (isRecord(entry)) yield { item, definition: entry, path: ["entries", index], isEntry: true };
    }
  }
}

/** The advertised name; `undefined` if there is none, which the check of shapes reports. */
export function advertisedName({ name }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
}

const advertisable = /^[A-Za-z0-9_-]{1,64}$/;

/** Optional prefixes for app, platform and organization, a verb and a noun, and an optional version from 2. */
const convention = /^([a-z][a-z0-9]*_){0,3}[a-z][A-Za-z0-9]*(_v[2-9]\d*)?$/;

const reservedPrefixes = ["org_", "ios_", "android_", "mobile_", "web_"];

export const checkToolNames: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    const name = advertisedName(definition);
    if (name === undefined || !advertisable.test(name)) continue;
    const place = [...path, "name"];
    if (!convention.test(name)) yield findInItem(item, "ToolNameConvention", { name }, place);
    const prefix = reservedPrefixes.find((one) => name.startsWith(one));
    if (prefix !== undefined) yield findInItem(item, "ReservedToolPrefix", { name, prefix }, place);
  }
};

/** The names that items advertise: those of tools and entries, then those of prompts. */
function findClaims(items: readonly InspectedItem[]) {
  const prompts = items.flatMap((item) =>
    item.shape === "prompt" ? [{ item, definition: item.definition ?? {}, path: [], isEntry: false }] : [],
  );
  return [...findTools(items), ...prompts].flatMap(({ item, definition, path, isEntry }) => {
    const name = advertisedName(definition);
    return name === undefined ? [] : { name, item, path: [...path, "name"], isEntry };
  });
}

type Claim = ReturnType<typeof findClaims>[number];

export const checkAdvertisedNames: Check = function* ({ inspected: { items } }) {
  for (const { name, item, path } of findClaims(items))
    if (!advertisable.test(name)) yield findInItem(item, "InvalidAdvertisedName", { name }, path);
};

/**
 * Finds names that two tools, two prompts, or two bundle entries of one server advertise. A bundle entry and a tool may
 * share a name, because servers number them.
 */
export const checkRepeatedNames: Check = function* (pack) {
  const { items } = pack.inspected;
  // Tools, prompts, and the entries of each bundle are lists without repeated names.
  const lists = new Map<unknown, Claim[]>();
  for (const claim of findClaims(items)) {
    const key = claim.isEntry ? claim.item : claim.item.shape;
    lists.set(key, lists.get(key) ?? []);
    lists.get(key)?.push(claim);
  }
  function* servedBy(server: InspectedItem): Generator<Claim> {
    for (const { toolset, isRepeated } of pack.walkToolsets(server))
      if (!isRepeated) yield* lists.get(toolset) ?? [];
  }
  const servers = items.filter(({ shape }) => shape === "composedServer" || shape === "serverDocument");
  const reported = new Set<Claim>();
  for (const claims of [...lists.values(), ...servers.map(servedBy)]) {
    const first = new Map<string, Claim>();
    for (const claim of claims) {
      const { name, item, path } = claim;
      const other = first.get(name);
      if (other === undefined) first.set(name, claim);
      else if (!reported.has(claim)) {
        reported.add(claim);
        yield findInItem(item, "DuplicateAdvertisedName", { name, other: other.item.declaration.name }, path);
      }
    }
  }
};

export const checkToolMeta: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items))
    for (const problem of findMetaProblems(definition._meta).values())
      yield { item, problem: { ...problem, path: [...path, ...(problem.path ?? [])] } };
};
