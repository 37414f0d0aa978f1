import { isRecord } from "../../data/parse-json.ts";
import { formatSize } from "../../problems/index.ts";
import { listedShapes } from "../../runtime/mcp-shapes.ts";
import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "./connected-server.ts";
import { type JsonObject, own } from "./incoming-message.ts";

export interface ListLimits {
  pages: number;
  /** Of each list. */
  entries: number;
  /** Bytes that the server sends while a list is fetched. */
  bytes: number;
}

/** A list is invalid. The message continues the server's name. */
export class ListError extends Error {
  override readonly name = "ListError";
}

/** What servers list, by the key of the result. */
export interface ServerLists {
  readonly tools: readonly AdvertisedTool[];
  readonly prompts: readonly AdvertisedPrompt[];
  readonly resources: readonly AdvertisedResource[];
  readonly resourceTemplates: readonly AdvertisedResourceTemplate[];
}

export type ListKey = keyof ServerLists;

/** The lists of a server without what else is known of it. */
export const takeLists = ({ tools, prompts, resources, resourceTemplates }: ServerLists): ServerLists => ({
  ...{ tools, prompts, resources, resourceTemplates },
});

/** The key of a server's capabilities with its lists, which tells of their changes together. */
export type ListCapability = "tools" | "prompts" | "resources";

interface ListRules {
  method: string;
  capability: ListCapability;
  /** For people, in the plural. */
  entries: string;
  /** The key that identifies an entry. */
  id: string;
}

export const listRules: Readonly<Record<ListKey, ListRules>> = {
  tools: { method: "tools/list", capability: "tools", entries: "tools", id: "name" },
  prompts: { method: "prompts/list", capability: "prompts", entries: "prompts", id: "name" },
  resources: { method: "resources/list", capability: "resources", entries: "resources", id: "uri" },
  resourceTemplates: {
    method: "resources/templates/list",
    capability: "resources",
    entries: "resource templates",
    id: "uriTemplate",
  },
};

export const listKeys = Object.keys(listRules) as ListKey[];

/** What is left out of a list: all of it, the rest after an invalid cursor, an entry, or a key of an entry. */
export interface ListFault {
  list: ListKey;
  /** Continues the server's name, or that of the entry or key. */
  reason: string;
  isRest?: boolean;
  /** The name or URI of the entry, which may be empty. */
  name?: string;
  /** The path of the key in the entry. */
  key?: string;
}

/** Makes an entry valid for every client, by leaving out what is optional. Returns whether it can be offered at all. */
export function repairEntry(
  list: ListKey,
  entry: unknown,
  onLeftOut: (fault: ListFault) => void,
): entry is JsonObject {
  const id = isRecord(entry) ? own(entry, listRules[list].id) : undefined;
  const name = typeof id === "string" ? id : "";
  const fault = listedShapes[list](entry, "", (key, reason) =>
    onLeftOut({ list, name, key, reason: `it ${reason}` }),
  );
  if (fault !== undefined) onLeftOut({ list, name, reason: `it ${fault}` });
  return fault === undefined;
}

/** The entries, and of several with one name or URI the first. */
function keepFirst(list: ListKey, entries: readonly JsonObject[], onLeftOut: (fault: ListFault) => void) {
  const known = new Set<unknown>();
  return entries.filter((entry) => {
    const id = own(entry, listRules[list].id);
    const isFirst = !known.has(id);
    known.add(id);
    if (!isFirst)
      onLeftOut({ list, name: String(id), reason: "it is listed twice, and the first one counts" });
    return isFirst;
  });
}

/** Fetches every page of a list. Rejects with `ListError`, or as `request` does. */
export async function fetchList<Key extends ListKey>(
  list: Key,
  request: (params: JsonObject) => Promise<JsonObject>,
  {
    limits,
    bytesRead,
    onLeftOut,
  }: { limits: ListLimits; bytesRead(): number; onLeftOut(fault: ListFault): void },
): Promise<ServerLists[Key]> {
  const { method, entries: what } = listRules[list];
  const entries: JsonObject[] = [];
  const cursors = new Set<unknown>();
  const bytesBefore = bytesRead();
  let listed = 0;
  let cursor: unknown;
  for (let page = 1; ; page++) {
    const result = await request(cursor === undefined ? {} : { cursor });
    // Some languages write an empty list as null.
    const members = own(result, list) === null ? [] : own(result, list);
    if (!Array.isArray(members))
      throw new ListError(`it answered \`${method}\` with an invalid result: \`${list}\` must be an array`);
    listed += members.length;
    if (listed > limits.entries) throw new ListError(`it lists more than ${limits.entries} ${what}`);
    if (bytesRead() - bytesBefore > limits.bytes) {
      throw new ListError(`its list of ${what} has more than ${formatSize(limits.bytes)}`);
    }
    for (const member of members) if (repairEntry(list, member, onLeftOut)) entries.push(member);
    cursor = own(result, "nextCursor") ?? undefined;
    if (cursor === undefined) return keepFirst(list, entries, onLeftOut) as unknown as ServerLists[Key];
    const isUsable = typeof cursor === "string" && cursor !== "";
    if (!isUsable || cursors.has(cursor)) {
      const fault = isUsable ? "it repeats a cursor" : "its cursor is not a string with characters";
      onLeftOut({ list, isRest: true, reason: fault });
      // A server without pages gives the same one to every cursor.
      return keepFirst(list, entries, () => {}) as unknown as ServerLists[Key];
    }
    if (page >= limits.pages) throw new ListError(`its list of ${what} has more than ${limits.pages} pages`);
    cursors.add(cursor);
  }
}
