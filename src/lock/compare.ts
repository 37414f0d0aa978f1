import { isRecord } from "../data/parse-json.ts";
import { isSameJson } from "./canonical-json.ts";
import type { FieldChange, Json, LockedPack, LockedServer } from "./types.ts";

/** The values that differ. Objects are compared key by key, everything else as a whole. */
export function findFieldChanges(
  from: Json | undefined,
  to: Json | undefined,
  path: (string | number)[] = [],
): FieldChange[] {
  if (isSameJson(from, to)) return [];
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
    return keys.flatMap((key) =>
      findFieldChanges(
        Object.hasOwn(from, key) ? (from[key] as Json) : undefined,
        Object.hasOwn(to, key) ? (to[key] as Json) : undefined,
        [...path, key],
      ),
    );
  }
  return [{ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }];
}

/** The paths that differ, such as `inputSchema.properties.body`, for messages. */
export const formatPaths = (changes: readonly FieldChange[]): string[] =>
  changes.map(({ path }) => path.join("."));

/** An item's entry in an object by name. */
export function ownEntry<Value>(entries: Readonly<Record<string, Value>> | undefined, name: string) {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

export const deniedIn = (entry: LockedPack | LockedServer | undefined): string[] =>
  Array.isArray(entry?.denied) ? entry.denied.map(String) : [];

/** Whether an entry has denials alone: it approves nothing, and outlives what it is about. */
export const hasOnlyDenials = (entry: LockedPack | LockedServer | undefined): boolean =>
  Array.isArray(entry?.denied) && Object.keys(entry).every((key) => key === "denied" || key === "surface");
