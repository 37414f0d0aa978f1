// A lock as a flat table of what can be approved or denied by itself: its text nests what this compares, plans and changes.
import { posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { isSameJson, ownEntry } from "./json.ts";
import { deniedIn, hasOnlyDenials } from "./lock-file.ts";
import type { LockedItem, LockedKind, LockedPack, LockedServer, LockFile } from "./types.ts";

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

/** A part of a lock: what it records of it, or that it is denied. */
export interface LockPart {
  place: LockPlace;
  value: LockedItem;
  isDenial: boolean;
}

/** The parts of a lock by their keys, in the order of the file. */
export type LockParts = ReadonlyMap<string, LockPart>;

/** A pack, or a server of the config. */
export type Owner = Pick<LockPlace, "owner" | "entry">;

/** The lists of a server, by the kind of their entries. */
const keyOfListed = {
  tool: "lists",
  prompt: "prompts",
  resource: "resources",
  skill: "skills",
} as const satisfies Record<ListedKind, string>;

export const listedKinds = Object.keys(keyOfListed) as ListedKind[];

/** What a server lists: kind, the server's own name or URI, and what the lock records of it. */
export function* listedBy(
  server: LockedServer | undefined,
): Generator<[kind: ListedKind, name: string, item: LockedItem]> {
  for (const kind of listedKinds)
    for (const [name, item] of Object.entries(server?.[keyOfListed[kind]] ?? {})) yield [kind, name, item];
}

/** What the lock records of an entry of a server's list. */
export const findListed = (server: LockedServer, kind: ListedKind, id: string): LockedItem | undefined =>
  ownEntry(server[keyOfListed[kind]] ?? {}, id);

/** What a server lists, as its entry in the lock has it. A list of tools says that it has been listed. */
export function recordListed(server: LockedServer, listed: Record<ListedKind, [string, LockedItem][]>): void {
  for (const kind of listedKinds)
    if (kind === "tool" || listed[kind].length > 0)
      server[keyOfListed[kind]] = Object.fromEntries(listed[kind]);
}

/** The same place has the same key. */
export const keyOf = ({ owner, entry, kind, name, server }: LockPlace, isDenial = false): string =>
  JSON.stringify([isDenial, owner, entry, kind, name, server]);

/** Where an entry itself is. */
export const entryPlace = ({ owner, entry }: Owner): LockPlace => ({
  owner,
  entry,
  kind: "entry",
  name: entry,
});

/** Where the server is that lists a part. */
export const serverPlace = ({ owner, entry, server = "" }: LockPlace): LockPlace => ({
  owner,
  entry,
  kind: "server",
  name: server,
});

/** How an owner is written on the command line. */
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
  if (kind === "entry") return name;
  return owner === "pack" && server !== undefined ? `${kind}:${server}/${name}` : `${kind}:${name}`;
}

/** What a denial in an entry is about. One without a kind, which was written by hand, is kept as it is. */
function readDenial({ owner, entry }: Owner, denial: string): LockPlace {
  const colon = denial.indexOf(":");
  if (colon < 0) return { owner, entry, kind: "entry", name: denial };
  const [kind, rest] = [denial.slice(0, colon) as LockedKind, denial.slice(colon + 1)];
  // Of a pack's skill it has the path, of a skill that a server lists the URI.
  const isListed = owner === "pack" && (kind !== "skill" || rest.includes("://"));
  const slash = isListed ? rest.indexOf("/") : -1;
  const place = { owner, entry, kind };
  if (slash >= 0) return { ...place, name: rest.slice(slash + 1), server: rest.slice(0, slash) };
  return owner === "server" && kind !== "server"
    ? { ...place, name: rest, server: entry }
    : { ...place, name: rest };
}

/** A server without what it lists, of which `lists` says whether it is known. */
function statementOf({ lists, prompts: _, resources: __, skills: ___, ...said }: LockedServer): LockedItem {
  return said.launch === undefined ? said : { ...said, lists: lists == null ? null : {} };
}

/** The parts of a lock. */
export function partsOf({ packs, servers }: LockFile): LockParts {
  const parts = new Map<string, LockPart>();
  const add = (place: LockPlace, value: LockedItem, isDenial = false) =>
    parts.set(keyOf(place, isDenial), { place, value, isDenial });
  const addServer = (place: LockPlace, server: LockedServer) => {
    add(place, statementOf(server));
    for (const [kind, name, item] of server.launch === undefined ? [] : listedBy(server))
      add({ ...place, kind, name, server: place.name }, item);
  };
  const addEntry = (owner: Owner, entry: LockedPack | LockedServer) => {
    const { version } = entry;
    if (!hasOnlyDenials(entry)) add(entryPlace(owner), version === undefined ? {} : { version });
    for (const denial of deniedIn(entry)) add(readDenial(owner, denial), {}, true);
  };
  for (const [entry, pack] of Object.entries(packs)) {
    const owner = { owner: "pack", entry } as const;
    addEntry(owner, pack);
    if (pack.needs !== undefined) add({ ...owner, kind: "needs", name: "needs" }, pack.needs);
    for (const kind of kinds)
      for (const [name, item] of Object.entries<LockedItem>(pack[keyOfKind[kind]] ?? {})) {
        if (kind === "server") addServer({ ...owner, kind, name }, item as LockedServer);
        else add({ ...owner, kind, name }, item);
      }
  }
  for (const [entry, server] of Object.entries(servers)) {
    const owner = { owner: "server", entry } as const;
    addEntry(owner, server);
    const { version: _, surface: __, denied: ___, ...others } = server;
    if (others.launch !== undefined) addServer({ ...owner, kind: "server", name: entry }, others);
  }
  return parts;
}

/** Sets an own property, also one called `__proto__`. */
function setOwn(entries: LockedItem, key: string, value: LockedItem): LockedItem {
  Object.defineProperty(entries, key, { value, configurable: true, enumerable: true, writable: true });
  return value;
}

/** The object with this name inside another one, which is made if it is not there. */
function inside(entries: LockedItem, key: string): LockedItem {
  const value = ownEntry(entries, key);
  return isRecord(value) ? (value as LockedItem) : setOwn(entries, key, {});
}

/** The same parts without versions of entries of which nothing is approved. A pack without items may be approved as a whole. */
export function withoutIdle(parts: LockParts): LockParts {
  const approved = new Set<string>();
  const denied = new Set<string>();
  for (const { place, isDenial } of parts.values())
    if (isDenial) denied.add(keyOf(entryPlace(place)));
    else if (place.kind !== "entry" && place.server === undefined) approved.add(keyOf(entryPlace(place)));
  const isIdle = ({ place, isDenial }: LockPart, key: string) =>
    !isDenial &&
    place.kind === "entry" &&
    !approved.has(key) &&
    (place.owner === "server" || denied.has(key));
  return new Map([...parts].filter(([key, part]) => !isIdle(part, key)));
}

/** The lock with these parts. What a server lists needs the server. */
export function lockOf(written: LockParts): LockFile {
  const parts = withoutIdle(written);
  const lock: LockedItem = { lockfileVersion: 1, packs: {}, servers: {} };
  const holderOf = ({ owner, entry }: Owner) => inside(inside(lock, `${owner}s`), entry);
  const add = ({ place, value, isDenial }: LockPart) => {
    const { owner, kind, name, server } = place;
    const holder = holderOf(place);
    if (isDenial) holder.denied = [...((holder.denied ?? []) as string[]), denialOf(place)].sort();
    else if (server !== undefined) {
      const lister = owner === "server" ? holder : inside(inside(holder, "servers"), server);
      setOwn(inside(lister, keyOfListed[kind as ListedKind]), name, value);
    } else if (kind === "entry") Object.assign(holder, value);
    else if (kind === "needs") holder.needs = value;
    // What it lists is put into a copy.
    else if (owner === "server") Object.assign(holder, structuredClone(value));
    else setOwn(inside(holder, keyOfKind[kind]), name, kind === "server" ? structuredClone(value) : value);
  };
  const all = [...parts.values()];
  for (const part of all) if (part.isDenial || part.place.server === undefined) add(part);
  for (const part of all) {
    const { place, isDenial } = part;
    const isApproved = parts.get(keyOf(serverPlace(place)))?.value.launch !== undefined;
    if (!isDenial && place.server !== undefined && isApproved) add(part);
  }
  return lock as unknown as LockFile;
}

/** A change of a part; `undefined` for a part that is not there. */
export interface PartChange extends Omit<LockPart, "value"> {
  from: LockedItem | undefined;
  to: LockedItem | undefined;
}

/** The parts that differ between two locks, in their order. */
export function compareParts(before: LockParts, after: LockParts): PartChange[] {
  return [...new Map([...before, ...after])].flatMap(([key, { place, isDenial }]) => {
    const [from, to] = [before.get(key)?.value, after.get(key)?.value];
    return isSameJson(from, to) ? [] : [{ place, isDenial, from, to }];
  });
}

/** The same parts after changes. */
export function changeParts(parts: LockParts, changes: readonly Omit<PartChange, "from">[]): LockParts {
  const changed = new Map(parts);
  for (const { place, isDenial, to } of changes) {
    const key = keyOf(place, isDenial);
    if (to === undefined) changed.delete(key);
    else changed.set(key, { place, value: to, isDenial });
  }
  return changed;
}

/** Whether a part is denied by itself. */
export const isDenied = (parts: LockParts, place: LockPlace): boolean => parts.has(keyOf(place, true));

/** Whether a part is denied, or the server that lists it. */
export const isRefused = (parts: LockParts, place: LockPlace): boolean =>
  isDenied(parts, place) || (place.server !== undefined && isDenied(parts, serverPlace(place)));
