import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";

/** A JSON value of a lock, as `JSON.parse` creates it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The definition of an item, the launch of a server, or what a server lists, as the lock records it. */
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
  /** By path: `engineering/triage`. */
  skills?: Record<string, LockedItem>;
  /** Items that were refused, as `kind:name`. */
  denied?: string[];
}

/** A server that is launched or reached, with what it said when it was approved; or a composed server, which has its own keys. */
export type LockedServer = LockedItem & {
  /** What starts it, or where it is. Absent for a composed server. */
  launch?: LockedItem;
  instructions?: string[];
  /** Its tools by the server's own names; `null` if it has never been listed. */
  lists?: Record<string, LockedItem> | null;
  /** Its prompts by their own names. */
  prompts?: Record<string, LockedItem>;
  /** The same of resources and resource templates, by URI or template. */
  resources?: Record<string, LockedItem>;
  /** Its skills by the URI of their SKILL.md, with the digests of their files. */
  skills?: Record<string, LockedItem>;
};

/** A parsed `trailblaze.lock`. */
export interface LockFile {
  lockfileVersion: 1;
  /** By npm name. */
  packs: Record<string, LockedPack>;
  /**
   * The servers of the config, by label: with the `version` of its package, with `denied`, and with a `surface` as packs have
   * it, so that a merge of two halves is found.
   */
  servers: Record<string, LockedServer>;
}

/** What a part of the lock is about: an item, or what a pack needs. */
export type LockedKind = "tool" | "server" | "toolset" | "prompt" | "resource" | "skill" | "needs";

/** Limit on the nesting of a recorded value, in levels; the lock nests a few more. */
export const maximumDepth = 150;

/** `sha256-` and the base64 of the hash of a text. */
export const hashText = (text: string): string =>
  `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** Whether two values are equal. The order of keys does not matter. */
export const isSameJson = (a: Json | undefined, b: Json | undefined): boolean => isDeepStrictEqual(a, b);

/** An entry of an object by name. */
export function ownEntry<Value>(entries: Readonly<Record<string, Value>> | undefined, name: string) {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** The paths that differ, such as `inputSchema.properties.body`. Objects are compared key by key, all else as a whole. */
export function findChanges(
  from: Json | undefined,
  to: Json | undefined,
  path: readonly string[] = [],
): string[] {
  if (isSameJson(from, to)) return [];
  if (!isRecord(from) || !isRecord(to)) return [path.join(".")];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
  return keys.flatMap((key) =>
    findChanges(ownEntry(from, key) as Json | undefined, ownEntry(to, key) as Json | undefined, [
      ...path,
      key,
    ]),
  );
}
