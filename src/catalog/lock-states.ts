import type { UserServer } from "../config/session-config.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { keyOfKind } from "../kinds.ts";
import { describePack, describeUserServer } from "../lock/describe.ts";
import { isSameJson, ownEntry } from "../lock/json.ts";
import { deniedIn } from "../lock/lock-file.ts";
import type { LockScope } from "../lock/lock-scope.ts";
import type { LockedItem, LockFile } from "../lock/types.ts";

/** What trailblaze.lock says about an item, a pack or a server. */
export type LockState = "approved" | "changed" | "notApproved" | "denied" | "notLocked";

/** Compares a pack with the lock, without starting servers. An item without a valid definition has no state. */
export function comparePack(
  inspected: InspectedPack,
  lock: LockFile,
  scope: LockScope,
): { state: LockState; items: ReadonlyMap<InspectedItem, LockState | undefined> } {
  const { pack, items } = inspected;
  const locked = ownEntry(lock.packs, pack.name);
  const { entry } = describePack(inspected);
  const isLocked = scope.hasPack(pack);
  const stateOf = ({ declaration: { kind, name }, definition }: InspectedItem): LockState | undefined => {
    if (!isLocked || scope.isItemFree(pack.qualifiedName, kind, name, definition)) return "notLocked";
    if (deniedIn(locked).includes(`${kind}:${name}`)) return "denied";
    const now = ownEntry<LockedItem>(entry[keyOfKind[kind]], name);
    const before = ownEntry<LockedItem>(locked?.[keyOfKind[kind]], name);
    if (now === undefined || before === undefined) return now && "notApproved";
    // What a server says and lists is known only to one that runs.
    return isSameJson(before.launch ?? before, now.launch ?? now) ? "approved" : "changed";
  };
  const states = new Map(items.map((item) => [item, stateOf(item)]));
  const differs =
    !isSameJson(locked?.needs, entry.needs) ||
    [...states.values()].some((state) => state === "changed" || state === "notApproved");
  const state = locked === undefined ? "notApproved" : differs ? "changed" : "approved";
  return { state: isLocked ? state : "notLocked", items: states };
}

/** The state of a server of the config. */
export function compareServer(server: UserServer, lock: LockFile, scope: LockScope): LockState {
  if (scope.isServerFree(server.name)) return "notLocked";
  const locked = ownEntry(lock.servers, server.name);
  if (deniedIn(locked).includes(`server:${server.name}`)) return "denied";
  if (locked?.launch === undefined) return "notApproved";
  return isSameJson(locked.launch, describeUserServer(server, undefined).launch) ? "approved" : "changed";
}
