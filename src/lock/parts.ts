import { keyOfKind, kinds } from "../kinds.ts";
import type { ListedKind } from "../mcp/client/server-lists.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { isSameJson, ownEntry } from "./json.ts";
import { deniedIn } from "./lock-file.ts";
import type { LockedItem, LockedKind, LockedPack, LockedServer, LockFile } from "./types.ts";

/** Where a part of a lock is that can be approved by itself. */
export interface LockPlace {
  owner: "pack" | "server";
  /** npm name, or the label of a server of the config. */
  entry: string;
  kind: LockedKind;
  /** Of what a server lists, the server's own name for it: of a resource, its URI or template. `needs` for needs. */
  name: string;
  /** The server that lists it: the item's name, or the label. */
  server?: string;
}

export const owners = ["pack", "server"] as const;

/** The lists of a server, by the kind of their entries. */
export const keyOfListed = {
  tool: "lists",
  prompt: "prompts",
  resource: "resources",
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

/** A server of a lock by its place. */
export const findServer = (lock: LockFile, { owner, entry, name }: ServerPlace) =>
  ownEntry(owner === "server" ? lock.servers : ownEntry(lock.packs, entry)?.servers, name);

/** A server without what it lists. */
function statementOf(server: LockedServer): LockedItem {
  const { lists, prompts: _, resources: __, denied: ___, surface: ____, version, ...said } = server;
  if (server.launch !== undefined) return { ...said, lists: lists == null ? null : {} };
  return version === undefined ? said : { ...said, version };
}

function* partsOfServer(
  place: Pick<LockPlace, "owner" | "entry">,
  name: string,
  server: LockedServer,
): Generator<[LockPlace, LockedItem]> {
  yield [{ ...place, kind: "server", name }, statementOf(server)];
  if (server.launch === undefined) return;
  for (const [kind, own, item] of listedBy(server)) yield [{ ...place, kind, name: own, server: name }, item];
}

/** Every part of a lock that can be approved by itself, with what it records. */
export function* partsOf({ packs, servers }: LockFile): Generator<[LockPlace, LockedItem]> {
  for (const [entry, pack] of Object.entries(packs)) {
    const place = { owner: "pack", entry } as const;
    if (pack.needs !== undefined) yield [{ ...place, kind: "needs", name: "needs" }, pack.needs];
    for (const kind of kinds)
      for (const [name, item] of Object.entries<LockedItem>(pack[keyOfKind[kind]] ?? {})) {
        if (kind === "server") yield* partsOfServer(place, name, item as LockedServer);
        else yield [{ ...place, kind, name }, item];
      }
  }
  for (const [entry, server] of Object.entries(servers)) {
    const hasLaunch = server.launch !== undefined;
    if (hasLaunch) yield* partsOfServer({ owner: "server", entry }, entry, server);
  }
}

/** A server in a lock. */
export type ServerPlace = Pick<LockPlace, "owner" | "entry" | "name">;

/** The same place has the same key. */
export const keyOf = ({ owner, entry, kind, name, server }: LockPlace): string =>
  JSON.stringify([owner, entry, kind, name, server]);

/** How an owner is written on the command line. */
export const ownerOf = ({ owner, entry }: Pick<LockPlace, "owner" | "entry">) =>
  owner === "pack" ? qualifyPackageName(entry) : entry;

/** A part on the command line: `acme/jira/createIssue`, `acme/jira/warehouse/query`, `mine`, `mine/search`; for needs, the pack. */
export function nameOf(place: LockPlace): string {
  const owner = ownerOf(place);
  const { kind, name, server } = place;
  if (kind === "needs" || (place.owner === "server" && kind === "server")) return owner;
  return server === undefined || place.owner === "server" ? `${owner}/${name}` : `${owner}/${server}/${name}`;
}

/** How `denied` records a part: what a pack's server lists has the server's name. */
export const denialOf = ({ owner, kind, name, server }: LockPlace) =>
  owner === "pack" && server !== undefined ? `${kind}:${server}/${name}` : `${kind}:${name}`;

/** What a denial in an entry is about. */
function readDenial(owner: LockPlace["owner"], entry: string, denial: string): LockPlace {
  const colon = denial.indexOf(":");
  const [kind, rest] = [denial.slice(0, colon) as LockedKind, denial.slice(colon + 1)];
  const slash = owner === "pack" ? rest.indexOf("/") : -1;
  const place = { owner, entry, kind };
  if (slash >= 0) return { ...place, name: rest.slice(slash + 1), server: rest.slice(0, slash) };
  return owner === "server" && kind !== "server"
    ? { ...place, name: rest, server: entry }
    : { ...place, name: rest };
}

/** Every denial of a lock. */
export function* denialsOf(lock: LockFile): Generator<LockPlace> {
  for (const owner of owners)
    for (const [name, entry] of Object.entries<LockedPack | LockedServer>(lock[`${owner}s`]))
      for (const denial of deniedIn(entry)) yield readDenial(owner, name, denial);
}

/** Whether an entry of the lock denies the part. */
export const isDenied = (lock: LockFile, place: LockPlace): boolean =>
  deniedIn(ownEntry<LockedPack | LockedServer>(lock[`${place.owner}s`], place.entry)).includes(
    denialOf(place),
  );

/** Sets an own property, also one called `__proto__`; `undefined` removes it. */
function setOwn<Value>(entries: Record<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) delete entries[key];
  else Object.defineProperty(entries, key, { value, configurable: true, enumerable: true, writable: true });
}

/** Sets a key of an object in an entry, which has no empty objects. */
function setIn<Key extends string>(
  entry: { [key in Key]?: Record<string, LockedItem> | null },
  key: Key,
  name: string,
  value: LockedItem | undefined,
  keepsEmpty = false,
): void {
  const entries: Record<string, LockedItem> = entry[key] ?? {};
  setOwn(entries, name, value);
  if (keepsEmpty || Object.keys(entries).length > 0) Object.assign(entry, { [key]: entries });
  else delete entry[key];
}

/** The entry of a server with another statement, and what is approved of its lists. */
function restate(
  server: LockedServer | undefined,
  statement: LockedItem | undefined,
): LockedServer | undefined {
  const { denied, version, lists, prompts, resources } = server ?? {};
  const refused = denied === undefined ? undefined : { denied };
  if (statement?.launch === undefined)
    return statement === undefined && refused === undefined ? undefined : { ...statement, ...refused };
  return {
    ...statement,
    lists: lists ?? (statement.lists as LockedServer["lists"]) ?? null,
    ...refused,
    ...(version !== undefined && { version }),
    ...(prompts && { prompts }),
    ...(resources && { resources }),
  };
}

/** Changes a part of a lock; `undefined` removes it. What a server lists needs its launch. */
export function setPart(lock: LockFile, place: LockPlace, value: LockedItem | undefined): void {
  const { owner, entry, kind, name, server } = place;
  if (owner === "pack" && value !== undefined && !Object.hasOwn(lock.packs, entry))
    setOwn(lock.packs, entry, { surface: "" });
  const pack = owner === "pack" ? ownEntry(lock.packs, entry) : undefined;
  if (server !== undefined) {
    const known = findServer(lock, { owner, entry, name: server });
    if (known?.launch !== undefined)
      setIn(known, keyOfListed[kind as ListedKind], name, value, kind === "tool");
  } else if (owner === "server") setOwn(lock.servers, entry, restate(ownEntry(lock.servers, entry), value));
  else if (pack === undefined) return;
  else if (kind === "needs") {
    if (value === undefined) delete pack.needs;
    else pack.needs = value;
  } else {
    const items: Record<string, LockedItem> | undefined = pack[keyOfKind[kind]];
    const isServer = kind === "server";
    setIn(
      pack,
      keyOfKind[kind],
      name,
      isServer ? restate(ownEntry(items, name) as LockedServer, value) : value,
    );
  }
}

/** Adds or removes a denial of a part. */
export function setDenied(lock: LockFile, place: LockPlace, isDeniedNow: boolean): void {
  const entries: Record<string, LockedPack | LockedServer> = lock[`${place.owner}s`];
  const entry = ownEntry(entries, place.entry);
  const others = deniedIn(entry).filter((one) => one !== denialOf(place));
  const denied = isDeniedNow ? [...others, denialOf(place)].sort() : others;
  if (denied.length === 0) delete entry?.denied;
  else if (entry === undefined) setOwn(entries, place.entry, { surface: "", denied });
  else entry.denied = denied;
}

/** Removes an entry, but for its denials. */
export function removeEntry(lock: LockFile, { owner, entry }: Pick<LockPlace, "owner" | "entry">): void {
  const entries: Record<string, LockedPack | LockedServer> = lock[`${owner}s`];
  const denied = deniedIn(ownEntry(entries, entry));
  setOwn(entries, entry, denied.length > 0 ? { surface: "", denied } : undefined);
}

/** A part that differs between two locks. */
export interface PartChange {
  place: LockPlace;
  from: LockedItem | undefined;
  to: LockedItem | undefined;
}

/** The parts that differ, in the order of the lock. */
export function compareParts(from: LockFile, to: LockFile): PartChange[] {
  const before = new Map([...partsOf(from)].map(([place, value]) => [keyOf(place), { place, value }]));
  const after = new Map([...partsOf(to)].map(([place, value]) => [keyOf(place), { place, value }]));
  const places = new Map([...before, ...after].map(([key, { place }]) => [key, place]));
  return [...places].flatMap(([key, place]) => {
    const change = { place, from: before.get(key)?.value, to: after.get(key)?.value };
    return isSameJson(change.from, change.to) ? [] : [change];
  });
}
