import type { UserServer } from "../config/session-config.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind } from "../kinds.ts";
import { isSameJson } from "../lock/canonical-json.ts";
import { deniedIn, ownEntry } from "../lock/compare.ts";
import { describeUserServer } from "../lock/describe-items.ts";
import { describePack } from "../lock/describe-pack.ts";
import { LockScope, type ScopeConfig } from "../lock/lock-scope.ts";
import type { LockedItem, LockFile } from "../lock/types.ts";

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

/** Compares what is installed with the lock, without starting servers. */
export class LockStates {
  readonly #lock: LockFile | undefined;
  readonly #scope: LockScope;

  /** `folder`: that of the lock. */
  constructor(lock: LockFile | undefined, config: ScopeConfig, folder?: string) {
    this.#lock = lock;
    this.#scope = new LockScope(config, folder);
  }

  /** The states of a pack and its items; `undefined` without a lock. */
  describe(inspected: InspectedPack): PackLock | undefined {
    if (this.#lock === undefined) return undefined;
    const { pack, items } = inspected;
    const locked = ownEntry(this.#lock.packs, pack.name);
    const entry = describePack(inspected);
    const denied = deniedIn(locked);
    const isCovered = this.#scope.hasPack(pack);
    const stateOf = ({ declaration: { kind, name }, definition }: InspectedItem): ItemLock => {
      if (!isCovered || this.#scope.isItemFree(pack.qualifiedName, kind, name, definition))
        return "notLocked";
      if (denied.includes(`${kind}:${name}`)) return "denied";
      const key = keyOfKind[kind];
      const now = ownEntry<LockedItem>(entry[key], name);
      const before = ownEntry<LockedItem>(locked?.[key], name);
      if (now === undefined) return "unknown";
      if (before === undefined) return "notApproved";
      // What a server says and lists is known only to one that runs.
      return isSameJson(before.launch ?? before, now.launch ?? now) ? "approved" : "changed";
    };
    const states = new Map(items.map((item) => [item, stateOf(item)]));
    const needsDiffer = isCovered && locked !== undefined && !isSameJson(locked.needs, entry.needs);
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
    if (locked.launch === undefined) return "notApproved";
    return isSameJson(locked.launch, describeUserServer(server, undefined).launch) ? "approved" : "changed";
  }
}
