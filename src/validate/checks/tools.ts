import { isRecord } from "../../data/parse-json.ts";
import {
  findMetaFault,
  isMetaKey,
  metaKeys,
  metaPrefix,
  qualifiedNameKey,
} from "../../extension-schema/meta-keys.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { advertisedName, findTools, isAdvertisable } from "./subjects.ts";

/** Optional prefixes for app, platform and organization, a verb and a noun, and an optional version from 2. */
const convention = /^([a-z][a-z0-9]*_){0,3}[a-z][A-Za-z0-9]*(_v[2-9]\d*)?$/;

/** Prefixes for tools of the host and of organizations. */
const reservedPrefixes = ["org_", "ios_", "android_", "mobile_", "web_"];

/** Finds valid names of tools that violate the naming convention. */
export const checkToolNames: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    const name = advertisedName(definition);
    if (name === undefined || !isAdvertisable(name)) continue;
    const place = [...path, "name"];
    if (!convention.test(name)) yield findInItem(item, "ToolNameConvention", { name }, place);
    const prefix = reservedPrefixes.find((one) => name.startsWith(one));
    if (prefix !== undefined) yield findInItem(item, "ReservedToolPrefix", { name, prefix }, place);
  }
};

/** Finds names of tools, bundle entries and prompts that clients would reject. */
export const checkAdvertisedNames: Check = function* ({ inspected: { items } }) {
  const prompts = items.flatMap((item) =>
    item.shape === "prompt" ? [{ item, definition: item.definition ?? {}, path: [] }] : [],
  );
  for (const { item, definition, path } of [...findTools(items), ...prompts]) {
    const name = advertisedName(definition);
    if (name !== undefined && !isAdvertisable(name))
      yield findInItem(item, "InvalidAdvertisedName", { name }, [...path, "name"]);
  }
};

/** The name in a definition, with its path. Documents have it in `metadata`. */
function findOwnName({ shape, definition }: InspectedItem): { name: unknown; path: Path } {
  const isDocument = shape === "serverDocument" || shape === "toolsBundle";
  if (!isDocument) return { name: definition?.name, path: ["name"] };
  const metadata = definition?.metadata;
  return { name: isRecord(metadata) ? metadata.name : undefined, path: ["metadata", "name"] };
}

/** Finds servers, toolsets and prompts with a different name in their definition. */
export const checkItemNames: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    if (item.declaration.kind === "tool") continue;
    const { name, path } = findOwnName(item);
    if (typeof name !== "string" || name.trim() === "" || name === item.declaration.name) continue;
    yield findInItem(item, "NameMismatch", { name, item: item.declaration.name }, path);
  }
};

/** A name that an item or an entry advertises. */
interface Claim {
  name: string;
  item: InspectedItem;
  path: Path;
}

/** Reports repeated claims to a name, except for the first. */
function* findRepeated(claims: Iterable<Claim>, reported: Set<Claim>): Generator<Finding> {
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

/**
 * Finds names that two tools, two prompts, or two bundle entries of one server advertise. A bundle entry and a tool may
 * share a name, because servers number them.
 */
export const checkRepeatedNames: Check = function* (pack) {
  const { items } = pack.inspected;
  const tools: Claim[] = [];
  const prompts: Claim[] = [];
  const entries = new Map<InspectedItem, Claim[]>();
  for (const { item, definition, path, isEntry } of findTools(items)) {
    const name = advertisedName(definition);
    if (name === undefined) continue;
    const claim = { name, item, path: [...path, "name"] };
    if (!isEntry) tools.push(claim);
    else if (!entries.has(item)) entries.set(item, [claim]);
    else entries.get(item)?.push(claim);
  }
  for (const item of items) {
    const name = item.shape === "prompt" ? advertisedName(item.definition ?? {}) : undefined;
    if (name !== undefined) prompts.push({ name, item, path: ["name"] });
  }
  const servers = items.filter(({ shape }) => shape === "composedServer" || shape === "serverDocument");
  function* servedBy(server: InspectedItem): Generator<Claim> {
    for (const { toolset, isRepeated } of pack.walkToolsets(server))
      if (!isRepeated) yield* entries.get(toolset) ?? [];
  }
  const reported = new Set<Claim>();
  for (const claims of [tools, prompts, ...entries.values()]) yield* findRepeated(claims, reported);
  for (const server of servers) yield* findRepeated(servedBy(server), reported);
};

const known = Object.keys(metaKeys);
const withoutPrefix = (key: string) => key.slice(metaPrefix.length);

/** Suggests a similar key. Compares keys without their common prefix. */
function suggestMetaKey(key: string): string | undefined {
  const [nearest] = findNearestNames(withoutPrefix(key), known.map(withoutPrefix));
  return nearest === undefined ? undefined : `${metaPrefix}${nearest}`;
}

/** Finds unknown `trailblaze/` keys of `_meta`, and invalid values. */
export const checkToolMeta: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    if (!isRecord(definition._meta)) continue;
    for (const [key, value] of Object.entries(definition._meta)) {
      if (!key.toLowerCase().startsWith(metaPrefix) || key === qualifiedNameKey) continue;
      const place = [...path, "_meta", key];
      if (!isMetaKey(key)) {
        yield findInItem(item, "UnknownMetaKey", { key, suggestion: suggestMetaKey(key), known }, place);
        continue;
      }
      const fault = findMetaFault(key, value);
      if (fault !== undefined) yield findInItem(item, "InvalidMetaValue", { key, ...fault }, place);
    }
  }
};
