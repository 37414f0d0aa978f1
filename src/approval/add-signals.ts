import { keyOfKind } from "../kinds.ts";
import { ownEntry } from "../lock/compare.ts";
import { findRenames, findSignals } from "../lock/find-signals.ts";
import { findListed } from "../lock/server-entries.ts";
import type {
  EntryChange,
  ItemChange,
  LockedItem,
  LockedPack,
  LockedServer,
  LockFile,
} from "../lock/types.ts";
import { addPrefix, makeSafeName } from "../qualified-names/advertised-names.ts";
import type { Installation } from "./read-installation.ts";

function findInPack(
  pack: LockedPack | undefined,
  { kind, name, server }: ItemChange,
): LockedItem | undefined {
  if (kind === "needs") return pack?.needs;
  if (server !== undefined) return findListed(ownEntry(pack?.servers, server), kind, name);
  return ownEntry<LockedItem>(pack?.[keyOfKind[kind]], name);
}

const findInServer = (
  server: LockedServer | undefined,
  { kind, name }: ItemChange,
): LockedItem | undefined => (kind === "server" ? server : findListed(server, kind, name));

function* toolNamesOf(packs: Iterable<LockedPack>): Generator<string> {
  for (const { tools = {}, servers = {} } of packs) {
    for (const [key, { name }] of Object.entries(tools)) yield typeof name === "string" ? name : key;
    for (const { lists } of Object.values(servers)) yield* Object.keys(lists ?? {});
  }
}

/** The names of all tools that models see, or would see. */
function collectToolNames(lock: LockFile, { packs, servers, prefixes }: Installation): Set<string> {
  const names = new Set(toolNamesOf(Object.values(lock.packs)));
  for (const name of toolNamesOf([...packs.values()].map(({ entry }) => entry))) names.add(name);
  for (const [label, { lists }] of [...Object.entries(lock.servers), ...servers]) {
    const prefix = prefixes.get(label) ?? "";
    for (const tool of Object.keys(lists ?? {})) names.add(makeSafeName(addPrefix(prefix, tool)));
  }
  return names;
}

/** The same changes, with what reviewers should see about each. Pure. */
export function addSignals(
  entries: { packs: readonly EntryChange[]; servers: readonly EntryChange[] },
  lock: LockFile,
  installation: Installation,
): { packs: EntryChange[]; servers: EntryChange[] } {
  const toolNames = collectToolNames(lock, installation);
  const add = (entry: EntryChange, find: (item: ItemChange) => { from?: LockedItem; to?: LockedItem }) => {
    const pairs = entry.items.map((change) => {
      const { from, to } = find(change);
      return { change, from, to };
    });
    const renamed = findRenames(pairs);
    const items = pairs.map(({ change, from, to }): ItemChange => {
      const signals = findSignals(change, { from, to }, { toolNames });
      const isRenamed = renamed.has(change) && !signals.includes("renamed");
      return { ...change, signals: isRenamed ? [...signals, "renamed"] : signals };
    });
    return { ...entry, items };
  };
  const pair = (from: LockedItem | undefined, to: LockedItem | undefined) => ({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
  return {
    packs: entries.packs.map((entry) => {
      const [before, now] = [ownEntry(lock.packs, entry.name), installation.packs.get(entry.name)?.entry];
      return add(entry, (item) => pair(findInPack(before, item), findInPack(now, item)));
    }),
    servers: entries.servers.map((entry) => {
      const [before, now] = [ownEntry(lock.servers, entry.name), installation.servers.get(entry.name)];
      return add(entry, (item) => pair(findInServer(before, item), findInServer(now, item)));
    }),
  };
}
