import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";

/** A JSON value of a lock, as `JSON.parse` creates it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The definition of an item, the launch of a server, or what a server lists, as the lock records it. */
export type LockedItem = { [key: string]: Json };

/**
 * The form of `trailblaze.lock`. Packs are by npm name, the servers of the config by label. Each entry has a `surface`, so that a
 * merge of two halves is found, and `denied` with what was refused, as `kind:name`. `lists` of a server is `null` until it has
 * been listed.
 */
export interface LockFile {
  lockfileVersion: 1;
  packs: Record<string, LockedItem>;
  servers: Record<string, LockedItem>;
}

/** What a part of the lock is about: an item, or what a pack needs. */
export type LockedKind = "tool" | "server" | "toolset" | "prompt" | "resource" | "skill" | "needs";

/** Limit on the nesting of a recorded value, in levels; the lock nests a few more. */
export const maximumDepth = 150;

export const hashText = (text: string): string =>
  `sha256-${createHash("sha256").update(text).digest("base64")}`;

export const isSameJson = (a: Json | undefined, b: Json | undefined): boolean => isDeepStrictEqual(a, b);

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
