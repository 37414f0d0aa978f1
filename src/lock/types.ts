/** A JSON value of a lock, as `JSON.parse` creates it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The definition of an item, or the launch of a server, as the lock records it. */
export type LockedItem = { [key: string]: Json };

/** An entry of the lock for a pack. Names are the pack's; absent keys mean none. */
export interface LockedPack {
  version?: string;
  /** `sha256-` and the base64 of the hash of the entry's canonical form, without what is not seen by models. */
  surface: string;
  needs?: LockedItem;
  tools?: Record<string, LockedItem>;
  servers?: Record<string, LockedServer>;
  prompts?: Record<string, LockedItem>;
  toolsets?: Record<string, LockedItem>;
  resources?: Record<string, LockedItem>;
  /** Items that were refused, as `kind:name`. */
  denied?: string[];
}

/** A server: its launch, and for a subprocess server what it said when it was approved. */
export type LockedServer = LockedItem & {
  /** By the server's own names; `null` if it has never been listed. Absent for a composed server. */
  lists?: Record<string, LockedItem> | null;
  /** Its prompts by their own names. Absent: none was approved, or the lock is older than prompts of servers. */
  prompts?: Record<string, LockedItem>;
  /** The same of resources and resource templates, by URI or template. */
  resources?: Record<string, LockedItem>;
};

/** A parsed `trailblaze.lock`. */
export interface LockFile {
  lockfileVersion: 1;
  /** By npm name. */
  packs: Record<string, LockedPack>;
  /** The servers of the config, by label. */
  servers: Record<string, LockedServer>;
}

/** What a change is about: an item, or what a pack needs. */
export type LockedKind = "tool" | "server" | "toolset" | "prompt" | "resource" | "needs";

/** A value that differs. An absent value has no key. */
export interface FieldChange {
  path: (string | number)[];
  from?: Json;
  to?: Json;
}

/** An item that differs between the lock and the installation. */
export interface ItemChange {
  kind: LockedKind;
  /** Of what a server lists, the server's own name for it: of a resource, its URI or template. */
  name: string;
  /** The server that lists it: the item's name, or the label. */
  server?: string;
  /** The name that models see; absent for other kinds than tools. */
  advertisedName?: string;
  change: "added" | "removed" | "changed" | "same";
  fields: FieldChange[];
}

/** A pack, or a server of the config, in a comparison. */
export interface EntryChange {
  /** npm name, or the label of a server. */
  name: string;
  /** `same` if at most the version differs. */
  change: "added" | "removed" | "changed" | "same";
  version: { from: string | null; to: string | null };
  /** Without those that are the same. */
  items: ItemChange[];
}
