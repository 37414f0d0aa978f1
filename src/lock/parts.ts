// A lock as a flat table of what can be approved or denied by itself: its text nests what this compares, plans and changes.
import { posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { type Path, quote } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { ServerPlan } from "../runtime/server-launches.ts";
import { isSameJson, type LockedItem, type LockedKind, type LockFile, ownEntry } from "./json.ts";

/** Where a part of a lock is that can be approved by itself. */
export interface LockPlace {
  owner: "pack" | "server";
  /** npm name, or the label of a server of the config. */
  entry: string;
  /** `entry`: the entry itself, of which the lock records the version. */
  kind: LockedKind | "entry";
  /** Of what a server lists, the server's own name for it: of a resource, its URI or template. `needs` for needs. */
  name: string;
  /** The server that lists it: the item's name, or the label. */
  server?: string;
}

/** A part of a lock, and what it records of it; `null` if it is denied. */
export interface LockPart {
  place: LockPlace;
  value: LockedItem | null;
}

/** The parts of a lock by their keys, in the order of the file. */
export type LockParts = ReadonlyMap<string, LockPart>;

export type Owner = Pick<LockPlace, "owner" | "entry">;

const keyOfListed = {
  tool: "lists",
  prompt: "prompts",
  resource: "resources",
  skill: "skills",
} as const satisfies Record<ListedKind, string>;

const listedKinds = Object.keys(keyOfListed) as ListedKind[];

export const keyOf = ({ owner, entry, kind, name, server }: LockPlace): string =>
  JSON.stringify([owner, entry, kind, name, server]);

export const entryPlace = ({ owner, entry }: Owner): LockPlace => ({
  owner,
  entry,
  kind: "entry",
  name: entry,
});

export const serverPlace = ({ owner, entry, server = "" }: LockPlace): LockPlace => ({
  owner,
  entry,
  kind: "server",
  name: server,
});

export const placeOfLister = ({
  label,
  source: { pack, item },
}: Pick<ServerPlan, "label" | "source">): LockPlace =>
  pack === undefined
    ? { owner: "server", entry: label, kind: "server", name: label }
    : { owner: "pack", entry: pack, kind: "server", name: item ?? label };

export const listedPlace = (server: LockPlace, kind: ListedKind, name: string): LockPlace => ({
  ...server,
  kind,
  name,
  server: server.name,
});

export const ownerOf = ({ owner, entry }: Owner) => (owner === "pack" ? qualifyPackageName(entry) : entry);

/** The name of an item: the key of a pack's skill is its path, and of a server's its URI. */
export const itemName = (kind: LockedKind | "entry", key: string): string =>
  kind === "skill" ? posix.basename(key.replace(/\/SKILL\.md$/, "")) : key;

/** A part on the command line: `acme/jira/createIssue`, `acme/jira/warehouse/query`, `mine`, `mine/search`; for needs, the pack. */
export function nameOf(place: LockPlace): string {
  const owner = ownerOf(place);
  const { kind, name, server } = place;
  if (kind === "needs" || kind === "entry" || (place.owner === "server" && kind === "server")) return owner;
  if (server === undefined && place.owner === "pack") return `${owner}/${itemName(kind, name)}`;
  return place.owner === "server" ? `${owner}/${name}` : `${owner}/${server}/${name}`;
}

/** How `denied` records a part: what a pack's server lists has the server's name. */
function denialOf({ owner, kind, name, server }: LockPlace): string {
  return owner === "pack" && server !== undefined ? `${kind}:${server}/${name}` : `${kind}:${name}`;
}

/** What a denial in an entry is about; `undefined` if it is none. */
function readDenial(owner: Owner, denial: unknown): LockPlace | undefined {
  const [, word, name = ""] = /^(\w+):(.*)$/s.exec(String(denial)) ?? [];
  const kind = kinds.find((one) => one === word);
  if (kind === undefined) return undefined;
  const place = { ...owner, kind };
  if (owner.owner === "server")
    return kind === "server" ? { ...place, name } : { ...place, name, server: owner.entry };
  // Of a pack's skill it has the path, of a skill that a server lists the URI.
  const slash = kind !== "skill" || name.includes("://") ? name.indexOf("/") : -1;
  if (slash < 0) return { ...place, name };
  return { ...place, name: name.slice(slash + 1), server: name.slice(0, slash) };
}

export class LockFault extends Error {}

const misshapen = (path: Path) =>
  new LockFault(`${quote(path.join("/"), 200)} in it is missing, unknown or invalid`);

/** Not by zod, which passes over keys called `__proto__`: a tool of a server may be called so. */
function objectAt(value: unknown, path: Path): LockedItem {
  if (!isRecord(value)) throw misshapen(path);
  return value as LockedItem;
}

const objectsAt = (value: unknown, path: Path) =>
  Object.entries(objectAt(value, path)).map(([name, inner]) => ({
    name,
    inner: objectAt(inner, [...path, name]),
  }));

/** A server without what it lists, of which `lists` says whether it is known; and what it lists. */
function* partsOfServer(place: LockPlace, server: LockedItem, path: Path): Generator<LockPart> {
  const { lists, prompts: _, resources: __, skills: ___, ...said } = server;
  if (said.launch === undefined) return yield { place, value: said };
  objectAt(said.launch, [...path, "launch"]);
  yield { place, value: { ...said, lists: lists == null ? null : {} } };
  for (const kind of listedKinds) {
    const key = keyOfListed[kind];
    for (const { name, inner: value } of objectsAt(server[key] ?? {}, [...path, key]))
      yield { place: listedPlace(place, kind, name), value };
  }
}

const keysOfPacks: ReadonlySet<string> = new Set([
  ...["version", "surface", "denied", "needs"],
  ...Object.values(keyOfKind),
]);

function* partsOfPack(owner: Owner, pack: LockedItem, path: Path): Generator<LockPart> {
  const unknown = Object.keys(pack).find((key) => !keysOfPacks.has(key));
  if (unknown !== undefined) throw misshapen([...path, unknown]);
  const { needs } = pack;
  if (needs !== undefined)
    yield { place: { ...owner, kind: "needs", name: "needs" }, value: objectAt(needs, [...path, "needs"]) };
  for (const kind of kinds) {
    const ofKind = [...path, keyOfKind[kind]];
    for (const { name, inner: value } of objectsAt(pack[keyOfKind[kind]] ?? {}, ofKind)) {
      const place = { ...owner, kind, name };
      if (kind === "server") yield* partsOfServer(place, value, [...ofKind, name]);
      else yield { place, value };
    }
  }
}

/** Whether an entry has denials alone: it approves nothing, and outlives what it is about. */
export const hasOnlyDenials = (entry: LockedItem): boolean =>
  entry.denied !== undefined && Object.keys(entry).every((key) => key === "denied" || key === "surface");

/** The parts of an entry. Throws `LockFault`. */
export function* partsOfEntry(owner: Owner, entry: LockedItem, path: Path = []): Generator<LockPart> {
  const { version, surface: _, denied = [], ...server } = entry;
  if (version != null && typeof version !== "string") throw misshapen([...path, "version"]);
  if (!hasOnlyDenials(entry))
    yield { place: entryPlace(owner), value: version === undefined ? {} : { version } };
  if (owner.owner === "pack") yield* partsOfPack(owner, entry, path);
  else if (server.launch !== undefined)
    yield* partsOfServer({ ...owner, kind: "server", name: owner.entry }, server, path);
  // Last, so that a denial wins.
  for (const denial of Array.isArray(denied) ? denied : [undefined]) {
    const place = readDenial(owner, denial);
    if (place === undefined) throw misshapen([...path, "denied"]);
    yield { place, value: null };
  }
}

/** The parts of a lock, of which a denial replaces what is approved. Throws `LockFault`. */
export function partsOf({ lockfileVersion, packs, servers, ...others }: LockFile): LockParts {
  const [unknown] = lockfileVersion === 1 ? Object.keys(others) : ["lockfileVersion"];
  if (unknown !== undefined) throw misshapen([unknown]);
  const parts = Object.entries({ packs, servers }).flatMap(([key, entries]) =>
    objectsAt(entries, [key]).flatMap(({ name: entry, inner }) => [
      ...partsOfEntry({ owner: key === "packs" ? "pack" : "server", entry }, inner, [key, entry]),
    ]),
  );
  return new Map(parts.map((part) => [keyOf(part.place), part]));
}

/**
 * The same parts without versions of entries of which nothing is approved. A pack without items may be approved as a whole, but for
 * those that are `unasked`.
 */
export function withoutIdle(parts: LockParts, unasked: ReadonlySet<string> = new Set()): LockParts {
  const approved = new Set<string>();
  const denied = new Set<string>();
  for (const { place, value } of parts.values())
    if (value === null) denied.add(keyOf(entryPlace(place)));
    else if (place.kind !== "entry" && place.server === undefined) approved.add(keyOf(entryPlace(place)));
  const isIdle = ({ place: { kind, owner, entry } }: LockPart, key: string) =>
    kind === "entry" && !approved.has(key) && (owner === "server" || denied.has(key) || unasked.has(entry));
  return new Map([...parts].filter(([key, part]) => !isIdle(part, key)));
}

function pathOf({ owner, entry, kind, name, server }: LockPlace): string[] {
  const path = [`${owner}s`, entry];
  if (server !== undefined)
    return [...path, ...(owner === "pack" ? ["servers", server] : []), keyOfListed[kind as ListedKind], name];
  if (kind === "entry" || owner === "server") return path;
  return kind === "needs" ? [...path, kind] : [...path, keyOfKind[kind], name];
}

/** The object with this name inside another one, which is made if it is not there. It may be called `__proto__`. */
function inside(entries: LockedItem, key: string): LockedItem {
  const before = ownEntry(entries, key);
  if (isRecord(before)) return before as LockedItem;
  const value: LockedItem = {};
  Object.defineProperty(entries, key, { value, configurable: true, enumerable: true, writable: true });
  return value;
}

/** The lock with these parts. What a server lists needs the server. */
export function lockOf(written: LockParts): LockFile {
  const parts = withoutIdle(written);
  const lock: LockFile = { lockfileVersion: 1, packs: {}, servers: {} };
  const holderAt = (path: readonly string[]) =>
    path.reduce<LockedItem>(inside, lock as unknown as LockedItem);
  const put = (place: LockPlace, value: LockedItem) => {
    // What a server lists is put into a copy.
    const own = place.kind === "server" ? structuredClone(value) : value;
    Object.defineProperties(holderAt(pathOf(place)), Object.getOwnPropertyDescriptors(own));
  };
  const listed: [LockPlace, LockedItem][] = [];
  for (const { place, value } of parts.values()) {
    if (value === null) {
      const holder = holderAt(pathOf(entryPlace(place)));
      holder.denied = [...((holder.denied ?? []) as string[]), denialOf(place)].sort();
    } else if (place.server === undefined) put(place, value);
    else if (parts.get(keyOf(serverPlace(place)))?.value?.launch !== undefined) listed.push([place, value]);
  }
  for (const [place, value] of listed) put(place, value);
  return lock;
}

/** A change of a part. */
export interface PartChange {
  place: LockPlace;
  /** What the lock records before: `null` for a denial, `undefined` for nothing. */
  from: LockedItem | null | undefined;
  /** The same afterwards. */
  to: LockedItem | null | undefined;
}

export const compareParts = (before: LockParts, after: LockParts): PartChange[] =>
  [...new Map([...before, ...after])].flatMap(([key, { place }]) => {
    const [from, to] = [before.get(key)?.value, after.get(key)?.value];
    return isSameJson(from, to) ? [] : [{ place, from, to }];
  });

export function changeParts(parts: LockParts, changes: readonly Omit<PartChange, "from">[]): LockParts {
  const changed = new Map(parts);
  for (const { place, to } of changes) {
    if (to === undefined) changed.delete(keyOf(place));
    else changed.set(keyOf(place), { place, value: to });
  }
  return changed;
}

export const isDenied = (parts: LockParts, place: LockPlace): boolean =>
  parts.get(keyOf(place))?.value === null;

export const isRefused = (parts: LockParts, place: LockPlace): boolean =>
  isDenied(parts, place) || (place.server !== undefined && isDenied(parts, serverPlace(place)));
