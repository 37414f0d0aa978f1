import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import { comparePacks, compareUserServers, hasOnlyDenials, ownEntry } from "../lock/compare.ts";
import { filterListed, type ListedKind } from "../lock/server-entries.ts";
import type { EntryChange, LockedItem, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import { offerNames } from "../qualified-names/advertised-names.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { Installation } from "./read-installation.ts";

/** How an installation differs from a lock. */
export interface Comparison {
  /** By name; those that the lock does not concern are left out. */
  packs: EntryChange[];
  servers: EntryChange[];
}

type Entries<Value> = Readonly<Record<string, Value>> | undefined;

function withoutNames<Value>(entries: Entries<Value>, isLeftOut: (name: string, entry: Value) => boolean) {
  if (entries === undefined) return undefined;
  return Object.fromEntries(Object.entries(entries).filter((entry) => !isLeftOut(...entry)));
}

/** An entry without the items that are not compared. */
function withoutItems(
  entry: LockedPack,
  isLeftOut: (kind: Kind, name: string, item: LockedItem) => boolean,
  isListed: (server: string, kind: ListedKind, name: string) => boolean,
): LockedPack {
  const kept = kinds.map((kind) => {
    const key = keyOfKind[kind];
    return [key, withoutNames<LockedItem>(entry[key], (...item) => isLeftOut(kind, ...item))] as const;
  });
  const { servers, ...others } = Object.fromEntries(kept);
  const described = Object.entries((servers ?? {}) as Record<string, LockedServer>).map(
    ([name, server]) => [name, filterListed(server, (...listed) => isListed(name, ...listed))] as const,
  );
  return { ...entry, ...others, servers: Object.fromEntries(described) };
}

const deniedOf = (entry: LockedPack | LockedServer | undefined): ReadonlySet<string> =>
  new Set(Array.isArray(entry?.denied) ? entry.denied.map(String) : []);

function comparePack(
  name: string,
  from: LockedPack | undefined,
  { packs, scope }: Installation,
): EntryChange {
  const recorded = packs.get(name);
  const pack = qualifyPackageName(name);
  const denied = deniedOf(from);
  const isLeftOut = (kind: Kind, item: string, entry: LockedItem) =>
    denied.has(`${kind}:${item}`) ||
    recorded?.unknown.has(`${kind}:${item}`) === true ||
    scope.isItemFree(pack, kind, item, entry);
  const isListed = (server: string, kind: ListedKind, one: string) =>
    !denied.has(`${kind}:${server}/${one}`) && !scope.isListedFree(kind, `${pack}/${server}`, one, pack);
  const narrow = (entry: LockedPack | undefined) =>
    entry === undefined ? undefined : withoutItems(entry, isLeftOut, isListed);
  return comparePacks(name, narrow(from), narrow(recorded?.entry));
}

function compareServer(
  label: string,
  from: LockedServer | undefined,
  { servers, scope, prefixes }: Installation,
): EntryChange {
  const denied = deniedOf(from);
  const isListed = (kind: ListedKind, name: string) =>
    !denied.has(`${kind}:${name}`) && !scope.isListedFree(kind, label, name, undefined);
  const to = servers.get(label);
  const compared = compareUserServers(
    label,
    from && filterListed(from, isListed),
    to && filterListed(to, isListed),
  );
  // Tools that do not differ may have the same safe name.
  const names = [from, to].flatMap((server) => Object.keys(server?.lists ?? {}));
  const offered = offerNames(prefixes.get(label), names);
  const items = compared.items.map((item) =>
    item.kind === "tool" ? { ...item, advertisedName: offered.get(item.name) ?? item.name } : item,
  );
  return { ...compared, items };
}

const sortedUnion = (a: Iterable<string>, b: Iterable<string>) => [...new Set([...a, ...b])].sort();

/**
 * Compares a lock with the installation, as models would see it. Left out: what `lock.unlocked` names, what the lock
 * denies, and what is installed but not used because the config excludes it. Pure.
 */
export function compareInstallation(lock: LockFile, installation: Installation): Comparison {
  const { packs, servers, installed, unused, scope } = installation;
  const names = sortedUnion(Object.keys(lock.packs), packs.keys()).filter(
    (name) => packs.has(name) || !(installed.has(name) || hasOnlyDenials(ownEntry(lock.packs, name))),
  );
  const labels = sortedUnion(Object.keys(lock.servers), servers.keys()).filter(
    (label) =>
      (servers.has(label) ||
        !(unused.has(label) || scope.isServerFree(label) || hasOnlyDenials(ownEntry(lock.servers, label)))) &&
      !(servers.has(label) && deniedOf(ownEntry(lock.servers, label)).has(`server:${label}`)),
  );
  return {
    packs: names.map((name) => comparePack(name, ownEntry(lock.packs, name), installation)),
    servers: labels.map((label) => compareServer(label, ownEntry(lock.servers, label), installation)),
  };
}
