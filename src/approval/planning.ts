import { keyOfKind } from "../kinds.ts";
import { ownEntry } from "../lock/compare.ts";
import { findListed, withoutOthers } from "../lock/server-entries.ts";
import type {
  EntryChange,
  ItemChange,
  LockedItem,
  LockedPack,
  LockedServer,
  LockFile,
} from "../lock/types.ts";
import type { ApprovalChange } from "./apply-changes.ts";
import type { Installation } from "./read-installation.ts";
import { nameOf, type Targets } from "./targets.ts";

export type Owner = ApprovalChange["owner"];

const isNeeds = ({ kind }: ItemChange) => kind === "needs";

/** A server as it is approved before what it lists is. */
function withoutLists(server: LockedServer): LockedItem {
  if (!("lists" in server)) return server;
  return { ...withoutOthers(server), lists: server.lists === null ? null : {} };
}

/** Makes the changes of a plan from a comparison. */
export class Planning {
  readonly targets: Targets;
  readonly #denies: boolean;
  readonly installation: Installation;
  readonly lock: LockFile;

  constructor(targets: Targets, denies: boolean, installation: Installation, lock: LockFile) {
    this.targets = targets;
    this.#denies = denies;
    this.installation = installation;
    this.lock = lock;
  }

  #installedVersion(owner: Owner, name: string): Pick<ApprovalChange, "version"> {
    const entry =
      owner === "pack" ? this.installation.packs.get(name)?.entry : this.installation.servers.get(name);
    // A server without a package has no version, not even an unknown one.
    if (owner === "server" && entry?.version === undefined) return {};
    return { version: typeof entry?.version === "string" ? entry.version : null };
  }

  /** What is recorded of an item. */
  #valueOf(owner: Owner, entry: EntryChange, item: ItemChange): LockedItem | undefined {
    const { packs, servers } = this.installation;
    const { kind, name, server } = item;
    if (owner === "server") {
      const installed = servers.get(entry.name);
      if (installed === undefined) return undefined;
      return kind === "server" ? withoutLists(installed) : findListed(installed, kind, name);
    }
    const installed: LockedPack | undefined = packs.get(entry.name)?.entry;
    if (kind === "needs") return installed?.needs;
    if (server !== undefined) return findListed(ownEntry(installed?.servers, server), kind, name);
    if (kind === "resource") return ownEntry(installed?.resources, name);
    const value = ownEntry<LockedItem>(installed?.[keyOfKind[kind]], name);
    return value !== undefined && kind === "server" ? withoutLists(value as LockedServer) : value;
  }

  /** A change of one item, or of the entry itself. */
  create(owner: Owner, entry: EntryChange, item: ItemChange | undefined): ApprovalChange {
    const value = item === undefined ? undefined : this.#valueOf(owner, entry, item);
    const isGone = entry.change === "removed" || (item?.change === "removed" && item.kind !== "needs");
    const action = isGone ? "prune" : this.#denies ? "deny" : "approve";
    return {
      action,
      name: nameOf(entry, item ?? { kind: "needs", name: entry.name }, owner === "pack"),
      owner,
      entry: { ...entry, items: item === undefined ? [] : [item] },
      ...(value === undefined || action !== "approve" ? {} : { value }),
      ...(isGone ? {} : this.#installedVersion(owner, entry.name)),
    };
  }

  #isVersionOutdated(owner: Owner, name: string): boolean {
    const { version } = this.#installedVersion(owner, name);
    const locked = owner === "pack" ? ownEntry(this.lock.packs, name) : ownEntry(this.lock.servers, name);
    if (locked === undefined) return owner === "pack";
    return version !== undefined && (locked.version ?? null) !== version;
  }

  /** Whether the item is a server whose launch is approved with what it lists. */
  #isLaunchMeant({ kind, name, change }: ItemChange, pack: string | undefined): boolean {
    return kind === "server" && change !== "removed" && this.targets.hasServer({ pack, server: name });
  }

  /** The changes of one entry that are meant. */
  planEntry(owner: Owner, entry: EntryChange): ApprovalChange[] {
    const isPack = owner === "pack";
    const isMeant = this.targets.hasEntry(entry.name, isPack);
    if (entry.change === "removed") return isMeant ? [this.create(owner, entry, undefined)] : [];
    const chosen = entry.items.filter(
      (item) =>
        this.targets.hasItem(entry, item, isPack) ||
        this.#isLaunchMeant(item, isPack ? entry.name : undefined),
    );
    // The needs of a pack are those of each of its items.
    const needs = chosen.length === 0 ? [] : entry.items.filter(isNeeds);
    const items = new Set([...needs, ...chosen]);
    if (items.size > 0) return [...items].map((item) => this.create(owner, entry, item));
    return isMeant && this.#isVersionOutdated(owner, entry.name)
      ? [this.create(owner, entry, undefined)]
      : [];
  }
}
