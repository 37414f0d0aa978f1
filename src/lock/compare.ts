import { isRecord } from "../data/parse-json.ts";
import { isSameJson } from "./canonical-json.ts";
import type { Json, LockedPack, LockedServer } from "./types.ts";

/** The paths that differ, such as `inputSchema.properties.body`. Objects are compared key by key, all else as a whole. */
export function findChanges(
  from: Json | undefined,
  to: Json | undefined,
  path: readonly string[] = [],
): string[] {
  if (isSameJson(from, to)) return [];
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return keys.flatMap((key) =>
      findChanges(
        Object.hasOwn(from, key) ? (from[key] as Json) : undefined,
        Object.hasOwn(to, key) ? (to[key] as Json) : undefined,
        [...path, key],
      ),
    );
  }
  return [path.join(".")];
}

/** An item's entry in an object by name. */
export function ownEntry<Value>(entries: Readonly<Record<string, Value>> | undefined, name: string) {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

export const deniedIn = (entry: LockedPack | LockedServer | undefined): string[] =>
  Array.isArray(entry?.denied) ? entry.denied.map(String) : [];

/** Whether an entry has denials alone: it approves nothing, and outlives what it is about. */
export const hasOnlyDenials = (entry: LockedPack | LockedServer | undefined): boolean =>
  Array.isArray(entry?.denied) && Object.keys(entry).every((key) => key === "denied" || key === "surface");
