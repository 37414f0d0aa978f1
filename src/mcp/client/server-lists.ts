import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/server";
import { isRecord } from "../../data/parse-json.ts";
import { formatSize } from "../../problems/index.ts";
import { listedShapes } from "../../runtime/mcp-shapes.ts";
import { findSkillFault, type SkillEntry, skillsExtension } from "../../skills/skill-entry.ts";
import { RpcError } from "../client-message.ts";
import type { JsonObject } from "./json-rpc.ts";

export type { Prompt };

export interface ListLimits {
  pages: number;
  /** Of each list. */
  entries: number;
  /** Bytes that the server sends while a list is fetched. */
  bytes: number;
}

/** An entry of a server's list. `id`: its name, or of a resource the URI or template. */
export type ListedEntry = { id: string } & (
  | { kind: "tool"; list: "tools"; entry: Tool }
  | { kind: "prompt"; list: "prompts"; entry: Prompt }
  | { kind: "resource"; list: "resources"; entry: Resource }
  | { kind: "resource"; list: "resourceTemplates"; entry: ResourceTemplateType }
  | { kind: "skill"; list: "skills"; entry: SkillEntry & { name: string } }
);

/** What requests and locks call an entry of a list. Not by `ListedEntry`: public declarations would contain the SDK's types. */
export type ListedKind = "tool" | "prompt" | "resource" | "skill";

export type ListKey = ListedEntry["list"];

/** The key of a server's capabilities with its lists, which tells of their changes together. */
export type ListCapability = "tools" | "prompts" | "resources";

interface ListRule {
  kind: ListedKind;
  method: string;
  capability: ListCapability;
  /** The one of MCP that the list belongs to. */
  extension?: string;
  /** The key that identifies an entry. */
  id: string;
}

export const listRules: Readonly<Record<ListKey, ListRule>> = {
  tools: { kind: "tool", method: "tools/list", capability: "tools", id: "name" },
  prompts: { kind: "prompt", method: "prompts/list", capability: "prompts", id: "name" },
  resources: { kind: "resource", method: "resources/list", capability: "resources", id: "uri" },
  resourceTemplates: {
    kind: "resource",
    method: "resources/templates/list",
    capability: "resources",
    id: "uriTemplate",
  },
  skills: {
    kind: "skill",
    method: "skills/list",
    capability: "resources",
    extension: skillsExtension,
    id: "uri",
  },
};

export const listKeys = Object.keys(listRules) as ListKey[];

export function findOfferedLists(capabilities: Readonly<JsonObject>): ListKey[] {
  const { extensions } = capabilities;
  return listKeys.filter((key) => {
    const { capability, extension } = listRules[key];
    if (extension === undefined) return Object.hasOwn(capabilities, capability);
    return isRecord(extensions) && isRecord(extensions[extension]);
  });
}

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

/** The tools in its `tools/list` that are invalid. */
export const findInvalidTools = (leftOut: readonly ListFault[]) =>
  leftOut.flatMap(({ list, name, key, reason }) =>
    list === "tools" && name !== undefined && key === undefined ? [{ name, reason }] : [],
  );

/**
 * Fetches every page of a list: the entries that are valid for each client, and of several with one name or URI the first. Rejects
 * with `RpcError`, or as `request` does, if the first page cannot be used; another one that cannot be used, which `explain`
 * says, ends the list.
 */
export async function fetchList(
  list: ListKey,
  request: (params: JsonObject) => Promise<JsonObject>,
  carrier: { limits: { list: ListLimits }; bytesRead: number },
  onLeftOut: (fault: ListFault) => void,
  explain: (error: unknown) => string,
): Promise<ListedEntry[]> {
  const rule = listRules[list];
  const what = list === "resourceTemplates" ? "resource templates" : list;
  const entries = new Map<string, ListedEntry>();
  const repeated = new Set<string>();
  const cursors = new Set<unknown>();
  const limits = carrier.limits.list;
  const bytesBefore = carrier.bytesRead;
  let listed = 0;
  const endWith = (reason: string) => onLeftOut({ list, isRest: true, reason });
  /** Takes a page, and returns the cursor of the next one. */
  const takePage = async (cursor: unknown): Promise<unknown> => {
    if (cursors.size > limits.pages)
      throw new RpcError(`its list of ${what} has more than ${limits.pages} pages`);
    const result = await request(cursor === undefined ? {} : { cursor });
    // Some languages write an empty list as null.
    const members: unknown = result[list] ?? [];
    if (!Array.isArray(members))
      throw new RpcError(
        `it answered \`${rule.method}\` with an invalid result: \`${list}\` must be an array`,
      );
    listed += members.length;
    if (listed > limits.entries) throw new RpcError(`it lists more than ${limits.entries} ${what}`);
    if (carrier.bytesRead - bytesBefore > limits.bytes)
      throw new RpcError(`its list of ${what} has more than ${formatSize(limits.bytes)}`);
    for (const entry of members) {
      const id: unknown = isRecord(entry) ? entry[rule.id] : undefined;
      const name = typeof id === "string" ? id : "";
      const leaveOut = (reason: string, key?: string) =>
        onLeftOut({ list, name, key, reason: `it ${reason}` });
      // Leaves out what is optional.
      const fault =
        listedShapes[list](entry, "", (key, reason) => leaveOut(reason, key)) ??
        (list === "skills" ? findSkillFault(entry) : undefined);
      const named = list === "skills" ? { ...entry, name: entry?.frontmatter?.name } : entry;
      if (fault !== undefined) leaveOut(fault);
      else if (entries.has(name)) repeated.add(name);
      else entries.set(name, { kind: rule.kind, list, id: name, entry: named } as ListedEntry);
    }
    const next = result.nextCursor ?? undefined;
    if (next === undefined || (typeof next === "string" && next !== "")) return next;
    return endWith("its cursor is not a string with characters");
  };
  let cursor: unknown;
  do {
    cursors.add(cursor);
    const isFirst = cursor === undefined;
    cursor = await takePage(cursor).catch((error) => {
      if (isFirst || !(error instanceof RpcError)) throw error;
      return endWith(explain(error));
    });
  } while (cursor !== undefined && !cursors.has(cursor));
  // A server without pages gives the same one to every cursor.
  if (cursor !== undefined) endWith("it repeats a cursor");
  else
    for (const name of repeated)
      onLeftOut({ list, name, reason: "it is listed more than once, and the first one counts" });
  return [...entries.values()];
}
