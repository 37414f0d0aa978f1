import { keyOfKind } from "../kinds.ts";
import { ownEntry } from "../lock/compare.ts";
import { createLock } from "../lock/lock-file.ts";
import { listKeyOf } from "../lock/server-entries.ts";
import type {
  EntryChange,
  ItemChange,
  LockedItem,
  LockedPack,
  LockedServer,
  LockFile,
} from "../lock/types.ts";

/** One change of a lock. */
export interface ApprovalChange {
  /** `prune` removes what is no longer installed. */
  action: "approve" | "deny" | "prune";
  /** `acme/jira/createIssue`, `acme/jira/warehouse/query`, `my-tools`, `my-tools/search`; for needs and versions, the pack. */
  name: string;
  owner: "pack" | "server";
  /** The pack or the server with only this item; without an item, its version, or all of a removed entry. */
  entry: EntryChange;
  /** What is recorded, of an approved item. */
  value?: LockedItem;
  /** The installed version; `null` if the package has none, absent for a server without a package. */
  version?: string | null;
}

/** Sets an own property, also one called `__proto__`. */
function setKey<Value>(entries: Record<string, Value>, key: string, value: Value): void {
  Object.defineProperty(entries, key, { value, configurable: true, enumerable: true, writable: true });
}

/** How `denied` records an item: what a pack's server lists has the server's name. */
export const denialOf = (
  { kind, name, server }: Pick<ItemChange, "kind" | "name" | "server">,
  isPack: boolean,
) => (isPack && server !== undefined ? `${kind}:${server}/${name}` : `${kind}:${name}`);

export const denialsOf = (entry: LockedPack | LockedServer | undefined): string[] =>
  Array.isArray(entry?.denied) ? entry.denied.map(String) : [];

function setDenied(entry: LockedPack | LockedServer, denial: string, isDenied: boolean): void {
  const others = denialsOf(entry).filter((one) => one !== denial);
  const denied = isDenied ? [...others, denial].sort() : others;
  if (denied.length > 0) entry.denied = denied;
  else delete entry.denied;
}

/** The server with what was approved of its list before. */
function keepLists(server: LockedServer | undefined, value: LockedItem): LockedServer {
  const isComposed = !("lists" in value);
  const denied = denialsOf(server);
  return {
    // Instructions are unknown until a server has started.
    ...(value.lists === null && server?.instructions !== undefined
      ? { instructions: server.instructions }
      : {}),
    ...value,
    ...(isComposed ? {} : { lists: server?.lists ?? (value as LockedServer).lists ?? null }),
    ...(isComposed || server?.prompts === undefined ? {} : { prompts: server.prompts }),
    ...(isComposed || server?.resources === undefined ? {} : { resources: server.resources }),
    ...(denied.length > 0 ? { denied } : {}),
  };
}

/** Sets or removes an entry of a server's lists. The server may be gone, or never approved. */
function changeList(
  server: LockedServer | undefined,
  { kind, name }: ItemChange,
  value: LockedItem | undefined,
): void {
  const key = listKeyOf(kind);
  if (server === undefined || key === undefined) return;
  const list: Record<string, LockedItem> = server[key] ?? {};
  if (value === undefined) {
    delete list[name];
    // A known list of tools stays, also without any.
    if (key !== "lists" && Object.keys(list).length === 0) delete server[key];
    return;
  }
  setKey(list, name, value);
  server[key] = list;
}

const keyOf = (kind: ItemChange["kind"]) => (kind === "needs" ? undefined : keyOfKind[kind]);

/** Changes an item of a pack; `value`: `undefined` to remove it. */
function changeItem(entry: LockedPack, item: ItemChange, value: LockedItem | undefined): void {
  const { kind, name, server } = item;
  const key = keyOf(kind);
  if (key === undefined) {
    if (value === undefined) delete entry.needs;
    else entry.needs = value;
    return;
  }
  if (server !== undefined) {
    changeList(ownEntry(entry.servers, server), item, value);
    return;
  }
  const items: Record<string, LockedItem> = entry[key] ?? {};
  const before = ownEntry(items, name);
  if (value === undefined) delete items[name];
  else setKey(items, name, key === "servers" ? keepLists(before as LockedServer, value) : value);
  if (Object.keys(items).length === 0) delete entry[key];
  else Object.assign(entry, { [key]: items });
}

function changePack(lock: LockFile, change: ApprovalChange): void {
  const { name, items } = change.entry;
  const [item] = items;
  const known = ownEntry(lock.packs, name);
  if (known === undefined && change.action === "prune") return;
  if (change.action === "prune" && item === undefined) {
    const denied = denialsOf(known);
    if (denied.length > 0) setKey(lock.packs, name, { surface: "", denied });
    else delete lock.packs[name];
    return;
  }
  const entry = known ?? { surface: "" };
  if (known === undefined) setKey(lock.packs, name, entry);
  // A refusal says nothing about the version.
  const isRecorded = change.action === "approve" || known === undefined;
  if (isRecorded && typeof change.version === "string") entry.version = change.version;
  else if (isRecorded) delete entry.version;
  if (item === undefined) return;
  changeItem(entry, item, change.action === "approve" ? change.value : undefined);
  setDenied(entry, denialOf(item, true), change.action === "deny");
  if (change.action === "prune" && Object.keys(entry).every((key) => key === "surface"))
    delete lock.packs[name];
}

function changeServer(lock: LockFile, change: ApprovalChange): void {
  const { name, items } = change.entry;
  const [item] = items;
  const known = ownEntry(lock.servers, name);
  if (change.action === "prune" && (item === undefined || item.kind === "server")) {
    const denied = item === undefined ? denialsOf(known) : [];
    if (denied.length > 0) setKey(lock.servers, name, { denied });
    else delete lock.servers[name];
    return;
  }
  if (change.action === "approve" && item?.kind === "server" && change.value !== undefined) {
    const server = keepLists(known, change.value);
    setKey(lock.servers, name, server);
    setDenied(server, denialOf(item, false), false);
    return;
  }
  if (change.action === "deny" && item?.kind === "server") {
    setKey(lock.servers, name, { denied: [denialOf(item, false)] });
    return;
  }
  if (known === undefined) return;
  if (item === undefined) {
    if (change.version !== undefined) Object.assign(known, { version: change.version });
    return;
  }
  changeList(known, item, change.action === "approve" ? change.value : undefined);
  setDenied(known, denialOf(item, false), change.action === "deny");
  if (change.action === "prune" && Object.keys(known).length === 0) delete lock.servers[name];
}

/** The lock after changes; the given one stays as it is. Pure. */
export function applyChanges(lock: LockFile | undefined, changes: readonly ApprovalChange[]): LockFile {
  const changed = structuredClone(lock ?? createLock());
  for (const change of changes) {
    if (change.owner === "pack") changePack(changed, change);
    else changeServer(changed, change);
  }
  return changed;
}
