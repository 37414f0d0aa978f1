import { isRecord } from "../data/parse-json.ts";
import { isSameJson } from "./canonical-json.ts";
import type {
  EntryChange,
  FieldChange,
  ItemChange,
  Json,
  LockedItem,
  LockedPack,
  LockedServer,
} from "./types.ts";

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

/** Whether a server has members: what it lists is theirs. */
const isComposed = (server: LockedServer): boolean => !("lists" in server);

/** A server without what it lists, and without what says nothing about its launch. */
export function launchOf(server: LockedServer): LockedItem {
  const { lists: _, denied: __, ...others } = server;
  if (isComposed(server)) return others;
  const { version: ___, prompts: ____, resources: _____, ...launch } = others;
  return launch;
}

/** A server's launch without the instructions, which are known only after its start. */
export function startOf(server: LockedServer): LockedItem {
  const { instructions: _, ...start } = launchOf(server);
  return isComposed(server) ? launchOf(server) : start;
}

/** Whether an entry has denials alone: it approves nothing, and outlives what it is about. */
export const hasOnlyDenials = (entry: LockedPack | LockedServer | undefined): boolean =>
  Array.isArray(entry?.denied) && Object.keys(entry).every((key) => key === "denied" || key === "surface");

type Items = Readonly<Record<string, LockedItem>>;

const namesOf = (...objects: (object | null | undefined)[]) => [
  ...new Set(objects.flatMap((one) => Object.keys(one ?? {}))),
];

/** Compares the items of one kind. `describe` adds what the change of one says besides its fields. */
function compareAll(
  kind: ItemChange["kind"],
  from: Items | undefined,
  to: Items | undefined,
  server?: string,
): ItemChange[] {
  return namesOf(from, to)
    .sort()
    .flatMap((name) => {
      const [before, after] = [ownEntry(from, name), ownEntry(to, name)];
      const fields = findFieldChanges(before, after);
      if (before !== undefined && after !== undefined && fields.length === 0) return [];
      const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
      const advertised = (after ?? before)?.name;
      return [
        {
          kind,
          name,
          ...(server === undefined ? {} : { server }),
          ...(kind === "tool" ? { advertisedName: typeof advertised === "string" ? advertised : name } : {}),
          change,
          fields: change === "changed" ? fields : wholeItem(before, after),
        } satisfies ItemChange,
      ];
    });
}

/** An added or removed item as one field without a path. */
const wholeItem = (from: LockedItem | undefined, to: LockedItem | undefined): FieldChange[] => [
  { path: [], ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
];

type Servers = Readonly<Record<string, LockedServer>>;

/** Compares servers, and the lists of those whose list is known. */
function compareServers(from: Servers | undefined, to: Servers | undefined): ItemChange[] {
  return namesOf(from, to)
    .sort()
    .flatMap((name) => {
      const [before, after] = [ownEntry(from, name), ownEntry(to, name)];
      // Instructions are known only if the server was started.
      const isKnown = after === undefined || after.lists != null || isComposed(after);
      const shape = (server: LockedServer | undefined) =>
        server === undefined ? undefined : isKnown ? launchOf(server) : startOf(server);
      const launches = compareAll(
        "server",
        before && { [name]: shape(before) ?? {} },
        after && { [name]: shape(after) ?? {} },
      );
      if (after !== undefined && after.lists == null) return launches;
      return [
        ...launches,
        ...compareAll("tool", before?.lists ?? {}, after?.lists ?? {}, name),
        ...compareAll("prompt", before?.prompts, after?.prompts, name),
        ...compareAll("resource", before?.resources, after?.resources, name),
      ];
    });
}

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

function summarize(
  name: string,
  from: LockedPack | LockedServer | undefined,
  to: LockedPack | LockedServer | undefined,
  items: ItemChange[],
): EntryChange {
  const version = { from: textOrNull(from?.version), to: textOrNull(to?.version) };
  const change =
    from === undefined ? "added" : to === undefined ? "removed" : items.length === 0 ? "same" : "changed";
  return { name, change, version, items };
}

/** Compares the entry of a pack with the installed pack; `undefined` for an absent one. */
export function comparePacks(
  name: string,
  from: LockedPack | undefined,
  to: LockedPack | undefined,
): EntryChange {
  const asNeeds = (pack: LockedPack | undefined) => pack?.needs && { needs: pack.needs };
  const isListed = from !== undefined && to !== undefined;
  const items = [
    ...(isListed || from?.needs || to?.needs ? compareAll("needs", asNeeds(from), asNeeds(to)) : []),
    ...compareAll("tool", from?.tools, to?.tools),
    ...compareServers(from?.servers, to?.servers),
    ...compareAll("toolset", from?.toolsets, to?.toolsets),
    ...compareAll("prompt", from?.prompts, to?.prompts),
    ...compareAll("resource", from?.resources, to?.resources),
  ];
  return summarize(name, from, to, items);
}

/** Compares the entry of a server of the config with the config; `undefined` for an absent one. */
export function compareUserServers(
  name: string,
  from: LockedServer | undefined,
  to: LockedServer | undefined,
): EntryChange {
  const items = compareServers(from && { [name]: from }, to && { [name]: to });
  return summarize(name, from, to, items);
}
