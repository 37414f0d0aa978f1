import { ownEntry } from "./compare.ts";
import type { ItemChange, LockedItem, LockedServer } from "./types.ts";

/** The lists of a server, by the kind of their entries. */
const keyOfListed = { tool: "lists", prompt: "prompts", resource: "resources" } as const;

export type ListedKind = keyof typeof keyOfListed;

const listedKinds = Object.keys(keyOfListed) as ListedKind[];

/** Where a server has the entries of a kind; `undefined` for a kind that servers do not list. */
export const listKeyOf = (kind: ItemChange["kind"]) =>
  Object.hasOwn(keyOfListed, kind) ? keyOfListed[kind as ListedKind] : undefined;

/** What a server lists: kind, the server's own name or URI, and what the lock records of it. */
export function* listedBy(
  server: LockedServer | undefined,
): Generator<[kind: ListedKind, name: string, item: LockedItem]> {
  for (const kind of listedKinds)
    for (const [name, item] of Object.entries(server?.[keyOfListed[kind]] ?? {})) yield [kind, name, item];
}

/** One entry of a server's lists. */
export function findListed(
  server: LockedServer | undefined,
  kind: ItemChange["kind"],
  name: string,
): LockedItem | undefined {
  const key = listKeyOf(kind);
  return key === undefined ? undefined : ownEntry(server?.[key] ?? undefined, name);
}

/** A server without its prompts and resources. */
export function withoutOthers(server: LockedServer): LockedServer {
  const { prompts: _, resources: __, ...others } = server;
  return others;
}

/** The same with only some of what it lists. A list that is unknown stays so. */
export function filterListed(
  server: LockedServer,
  isKept: (kind: ListedKind, name: string) => boolean,
): LockedServer {
  if (server.lists == null) return server;
  const kept = listedKinds.flatMap((kind) => {
    const key = keyOfListed[kind];
    const entries = Object.entries(server[key] ?? {}).filter(([name]) => isKept(kind, name));
    return kind === "tool" || entries.length > 0 ? [[key, Object.fromEntries(entries)] as const] : [];
  });
  return { ...withoutOthers(server), ...Object.fromEntries(kept) };
}
