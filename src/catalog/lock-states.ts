import type { UserServer } from "../config/session-config.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind } from "../kinds.ts";
import { comparePacks, compareUserServers, ownEntry } from "../lock/compare.ts";
import { describeUserServer } from "../lock/describe-items.ts";
import { describePack } from "../lock/describe-pack.ts";
import { LockScope, type ScopeConfig } from "../lock/lock-scope.ts";
import type { LockedItem, LockedPack, LockedServer, LockFile } from "../lock/types.ts";

/** What trailblaze.lock says about an item; `unknown` without a valid definition. */
export type ItemLock = "approved" | "changed" | "notApproved" | "denied" | "notLocked" | "unknown";

/** What trailblaze.lock says about a pack. */
export interface PackLock {
  state: "approved" | "changed" | "notApproved" | "notLocked";
  /** The approved version. */
  version: string | undefined;
  /** Whether what the pack needs differs from what was approved. */
  needsDiffer: boolean;
  items: ReadonlyMap<InspectedItem, ItemLock>;
}

const deniedIn = (entry: LockedPack | LockedServer | undefined): readonly unknown[] =>
  Array.isArray(entry?.denied) ? entry.denied : [];

/** Compares what is installed with the lock, without starting servers. */
export class LockStates {
  readonly #lock: LockFile | undefined;
  readonly #scope: LockScope;

  constructor(lock: LockFile | undefined, config: ScopeConfig) {
    this.#lock = lock;
    this.#scope = new LockScope(config);
  }

  /** The states of a pack and its items; `undefined` without a lock. */
  describe(inspected: InspectedPack): PackLock | undefined {
    if (this.#lock === undefined) return undefined;
    const { pack, items } = inspected;
    const locked = ownEntry(this.#lock.packs, pack.name);
    const entry = describePack(inspected);
    const compared = comparePacks(pack.name, locked, entry);
    const denied = deniedIn(locked);
    const isCovered = this.#scope.hasPack(pack);
    const changes = new Map(
      compared.items
        .filter(({ server }) => server === undefined)
        .map(({ kind, name, change }) => [`${kind}:${name}`, change]),
    );
    const stateOf = ({ declaration: { kind, name }, definition }: InspectedItem): ItemLock => {
      if (!isCovered || this.#scope.isItemFree(pack.qualifiedName, kind, name, definition))
        return "notLocked";
      if (denied.includes(`${kind}:${name}`)) return "denied";
      if (ownEntry<LockedItem>(entry[keyOfKind[kind]], name) === undefined) return "unknown";
      const change = changes.get(`${kind}:${name}`);
      return change === undefined ? "approved" : change === "added" ? "notApproved" : "changed";
    };
    const states = new Map(items.map((item) => [item, stateOf(item)]));
    const needsDiffer = isCovered && locked !== undefined && changes.has("needs:needs");
    const values = [...states.values()];
    const differs = needsDiffer || values.some((state) => state === "changed" || state === "notApproved");
    return {
      state: !isCovered
        ? "notLocked"
        : locked === undefined
          ? "notApproved"
          : differs
            ? "changed"
            : "approved",
      version: locked?.version,
      needsDiffer,
      items: states,
    };
  }

  /** The state of a server of the config; `undefined` without a lock. */
  describeServer(server: UserServer): ItemLock | undefined {
    if (this.#lock === undefined) return undefined;
    if (this.#scope.isServerFree(server.name)) return "notLocked";
    const locked = ownEntry(this.#lock.servers, server.name);
    if (locked === undefined) return "notApproved";
    if (deniedIn(locked).includes(`server:${server.name}`)) return "denied";
    const { items } = compareUserServers(server.name, locked, describeUserServer(server, undefined));
    return items.some(({ kind }) => kind === "server") ? "changed" : "approved";
  }
}
