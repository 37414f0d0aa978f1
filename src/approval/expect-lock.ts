import { deniedIn, hasOnlyDenials, ownEntry } from "../lock/compare.ts";
import {
  findServer,
  isDenied,
  isListedKind,
  keyOf,
  type LockPlace,
  partsOf,
  removeEntry,
  setPart,
} from "../lock/parts.ts";
import type { LockedItem, LockFile } from "../lock/types.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { type Installation, lockOf } from "./read-installation.ts";

type UsedParts = Pick<Installation, "packs" | "servers" | "installed" | "unused" | "scope">;

/** Whether the lock stays as it is about a part: it is denied, free, or not used although it is installed. */
function isLeftOut(
  lock: LockFile,
  { packs, servers, installed, unused, scope }: UsedParts,
  place: LockPlace,
  value: LockedItem,
): boolean {
  const { owner, entry, kind, name, server } = place;
  if (kind !== "needs" && isDenied(lock, place)) return true;
  if (owner === "server") {
    if (isDenied(lock, { owner, entry, kind: "server", name: entry })) return true;
    if (!servers.has(entry) && (unused.has(entry) || scope.isServerFree(entry))) return true;
    return server !== undefined && isListedKind(kind) && scope.isListedFree(kind, entry, name, undefined);
  }
  const recorded = packs.get(entry);
  const item = server === undefined ? `${kind}:${name}` : `server:${server}`;
  // What an installed pack no longer declares is gone, also if sessions do not use the pack.
  if (recorded === undefined) return kind === "needs" || installed.get(entry)?.has(item) === true;
  if (kind === "needs") return false;
  const pack = qualifyPackageName(entry);
  if (recorded.unknown.has(item) || deniedIn(ownEntry(lock.packs, entry)).includes(item)) return true;
  if (server === undefined) return scope.isItemFree(pack, kind, name, value);
  if (scope.isItemFree(pack, "server", server, null)) return true;
  return isListedKind(kind) && scope.isListedFree(kind, `${pack}/${server}`, name, pack);
}

/**
 * The lock with everything approved that a session would use, and without what is gone. Versions of known entries stay, because
 * another version is no difference. Pure.
 */
export function expectLock(lock: LockFile, installation: UsedParts): LockFile {
  const { packs, servers, installed, unused, scope } = installation;
  const expected = structuredClone(lock);
  for (const [entry, locked] of Object.entries(lock.packs))
    if (!packs.has(entry) && !installed.has(entry) && !hasOnlyDenials(locked))
      removeEntry(expected, { owner: "pack", entry });
  for (const [entry, locked] of Object.entries(lock.servers))
    if (!servers.has(entry) && !unused.has(entry) && !scope.isServerFree(entry) && !hasOnlyDenials(locked))
      removeEntry(expected, { owner: "server", entry });
  const now = lockOf(installation);
  const known = new Set([...partsOf(now)].map(([place]) => keyOf(place)));
  for (const [place, value] of partsOf(lock)) {
    const server = place.server === undefined ? undefined : findServer(now, { ...place, name: place.server });
    const isUnlisted = server?.lists === null;
    if (known.has(keyOf(place)) || isUnlisted || isLeftOut(lock, installation, place, value)) continue;
    setPart(expected, place, undefined);
  }
  for (const [
    entry,
    {
      entry: { version },
    },
  ] of packs)
    if (!Object.hasOwn(expected.packs, entry))
      expected.packs[entry] = { surface: "", ...(version === undefined ? {} : { version }) };
  for (const [place, value] of partsOf(now)) {
    if (isLeftOut(lock, installation, place, value)) continue;
    setPart(expected, place, place.kind === "server" ? complete(value, lock, place) : value);
  }
  for (const [entry, { version }] of servers)
    if (
      version !== undefined &&
      !Object.hasOwn(lock.servers, entry) &&
      Object.hasOwn(expected.servers, entry)
    )
      Object.assign(expected.servers[entry] as object, { version });
  return expected;
}

/** What a server would say that has not started is what it said before. */
function complete(statement: LockedItem, lock: LockFile, place: LockPlace): LockedItem {
  const { lists, instructions } = findServer(lock, place) ?? {};
  if (statement.lists !== null) return statement;
  return {
    ...statement,
    ...(instructions === undefined ? {} : { instructions }),
    lists: lists == null ? null : {},
  };
}
