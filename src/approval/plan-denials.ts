import { keyOfKind, kinds } from "../kinds.ts";
import { ownEntry } from "../lock/compare.ts";
import { listedBy } from "../lock/server-entries.ts";
import type { ItemChange, LockedPack, LockedServer, LockFile } from "../lock/types.ts";
import { type ApprovalChange, denialOf, denialsOf } from "./apply-changes.ts";
import type { Comparison } from "./compare-installation.ts";
import { type Owner, Planning } from "./planning.ts";
import type { Targets } from "./targets.ts";

/** Plans denials, and what becomes of earlier ones. */
export class DenialPlanning extends Planning {
  /** What is denied: with names, also what is approved; otherwise what differs. */
  planDenials({ packs, servers }: Comparison): ApprovalChange[] {
    const all = [
      ...packs.map((entry) => ["pack", entry] as const),
      ...servers.map((entry) => ["server", entry] as const),
    ];
    return all.flatMap(([owner, entry]) => {
      const isPack = owner === "pack";
      if (entry.change === "removed") return [];
      const differing = entry.items.filter(({ kind, change }) => kind !== "needs" && change !== "removed");
      const items = this.targets.isEverything ? differing : this.#itemsOf(owner, entry.name);
      const denied = new Set(
        denialsOf(isPack ? ownEntry(this.lock.packs, entry.name) : ownEntry(this.lock.servers, entry.name)),
      );
      return items
        .filter((item) => this.targets.hasItem(entry, item, isPack) && !denied.has(denialOf(item, isPack)))
        .map((item) => this.create(owner, entry, item));
    });
  }

  /** The items of an entry that may be denied; what a server lists only if its own name is meant. */
  #itemsOf(owner: Owner, name: string): ItemChange[] {
    const describe = (kind: ItemChange["kind"], item: string, server?: string): ItemChange => ({
      ...{ kind, name: item, change: "changed", fields: [] },
      ...(server === undefined ? {} : { server }),
    });
    const listed = (server: string, one: LockedServer | undefined) =>
      [...listedBy(one)]
        .map(([kind, own]) => describe(kind, own, server))
        .filter((item) => this.targets.isNamed({ name }, item, owner === "pack"));
    if (owner === "server") {
      const named = listed(name, this.installation.servers.get(name));
      const known = listed(name, ownEntry(this.lock.servers, name));
      return [describe("server", name), ...uniqueByName([...named, ...known])];
    }
    const entry = this.installation.packs.get(name)?.entry;
    const own = kinds.flatMap((kind) =>
      Object.keys(entry?.[keyOfKind[kind]] ?? {}).map((item) => describe(kind, item)),
    );
    const ofServers = Object.entries(entry?.servers ?? {}).flatMap(([server, one]) => {
      const known = ownEntry(ownEntry(this.lock.packs, name)?.servers, server);
      return uniqueByName([...listed(server, one), ...listed(server, known)]);
    });
    return [...own, ...ofServers];
  }

  /** Named denials of items that are no longer there. `known`: the lock with its denials. */
  planVanishedDenials(known: LockFile, planned: readonly ApprovalChange[]): ApprovalChange[] {
    const ofEntries = (owner: Owner, entries: Readonly<Record<string, LockedPack | LockedServer>>) => {
      const isPack = owner === "pack";
      return Object.entries(entries).flatMap(([name, locked]) => {
        const items = planned
          .filter((change) => change.owner === owner && change.entry.name === name)
          .flatMap(({ entry }) => entry.items.map((item) => denialOf(item, isPack)));
        return denialsOf(locked)
          .filter((denial) => !items.includes(denial))
          .map((denial): ItemChange => ({ ...readDenial(denial, isPack), change: "removed", fields: [] }))
          .filter((item) => this.targets.isNamed({ name }, item, isPack))
          .map((item) => {
            const version = { from: null, to: null };
            return this.create(owner, { name, change: "changed", version, items: [item] }, item);
          });
      });
    };
    return [...ofEntries("pack", known.packs), ...ofEntries("server", known.servers)];
  }
}

const uniqueByName = (items: readonly ItemChange[]) => [
  ...new Map(items.map((item) => [`${item.kind}:${item.name}`, item])).values(),
];

function splitAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The lock without the denials of items that are named. */
export function liftDenials(lock: LockFile, targets: Targets): LockFile {
  const lifted = structuredClone(lock);
  for (const [entries, isPack] of [
    [lifted.packs, true],
    [lifted.servers, false],
  ] as const) {
    for (const [name, entry] of Object.entries(entries)) {
      const denied = denialsOf(entry);
      if (denied.length === 0) continue;
      const kept = denied.filter((denial) => !targets.isNamed({ name }, readDenial(denial, isPack), isPack));
      if (kept.length < denied.length) entry.denied = kept;
    }
  }
  return lifted;
}

function readDenial(denial: string, isPack: boolean): Pick<ItemChange, "kind" | "name" | "server"> {
  const [kind, rest = ""] = splitAt(denial, ":");
  const [first, tool] = isPack ? splitAt(rest, "/") : [rest, undefined];
  const known = kind as ItemChange["kind"];
  return tool === undefined ? { kind: known, name: first } : { kind: known, name: tool, server: first };
}
