import { isRecord } from "../../data/parse-json.ts";
import { formatSize } from "../../problems/index.ts";
import { listedShapes } from "../../runtime/mcp-shapes.ts";
import { findSkillFault, type SkillEntry, skillsExtension } from "../../skills/skill-entry.ts";
import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "./connected-server.ts";
import { AnswerError, type JsonObject, own } from "./json-rpc.ts";

export interface ListLimits {
  pages: number;
  /** Of each list. */
  entries: number;
  /** Bytes that the server sends while a list is fetched. */
  bytes: number;
}

/** What servers list, by the key of the result. */
export interface ServerLists {
  readonly tools: readonly AdvertisedTool[];
  readonly prompts: readonly AdvertisedPrompt[];
  readonly resources: readonly AdvertisedResource[];
  readonly resourceTemplates: readonly AdvertisedResourceTemplate[];
  readonly skills: readonly SkillEntry[];
}

export type ListKey = keyof ServerLists;

/** An entry of a server's list. `id`: its name, or of a resource the URI or template. */
export type ListedEntry = { id: string } & (
  | { kind: "tool"; list: "tools"; entry: AdvertisedTool }
  | { kind: "prompt"; list: "prompts"; entry: AdvertisedPrompt }
  | { kind: "resource"; list: "resources"; entry: AdvertisedResource }
  | { kind: "resource"; list: "resourceTemplates"; entry: AdvertisedResourceTemplate }
  | { kind: "skill"; list: "skills"; entry: SkillEntry & { name: string } }
);

/** What requests and locks call an entry of a list. */
export type ListedKind = ListedEntry["kind"];

/** Every entry of a server's lists, one list after the other. */
export const entriesOf = ({
  tools,
  prompts,
  resources,
  resourceTemplates,
  skills,
}: ServerLists): ListedEntry[] => [
  ...tools.map((entry) => ({ kind: "tool", list: "tools", id: entry.name, entry }) as const),
  ...prompts.map((entry) => ({ kind: "prompt", list: "prompts", id: entry.name, entry }) as const),
  ...resources.map((entry) => ({ kind: "resource", list: "resources", id: entry.uri, entry }) as const),
  ...resourceTemplates.map(
    (entry) => ({ kind: "resource", list: "resourceTemplates", id: entry.uriTemplate, entry }) as const,
  ),
  ...skills.map((skill) => {
    const entry = { ...skill, name: skill.frontmatter.name };
    return { kind: "skill", list: "skills", id: skill.uri, entry } as const;
  }),
];

/** The key of a server's capabilities with its lists, which tells of their changes together. */
export type ListCapability = "tools" | "prompts" | "resources";

interface ListRules {
  method: string;
  capability: ListCapability;
  /** The extension of MCP that the list belongs to. */
  extension?: string;
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
  skills: {
    method: "skills/list",
    capability: "resources",
    extension: skillsExtension,
    entries: "skills",
    id: "uri",
  },
};

export const listKeys = Object.keys(listRules) as ListKey[];

/** The lists that a server with these capabilities has. */
export function findOfferedLists(capabilities: Readonly<JsonObject>): ListKey[] {
  const extensions = own(capabilities, "extensions");
  return listKeys.filter((key) => {
    const { capability, extension } = listRules[key];
    if (extension === undefined) return Object.hasOwn(capabilities, capability);
    return isRecord(extensions) && isRecord(own(extensions, extension));
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

/** Makes an entry valid for each client, by leaving out what is optional. Returns whether it can be offered at all. */
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
  const isSkill = fault === undefined && list === "skills";
  const refusal = isSkill ? findSkillFault(entry as unknown as SkillEntry) : fault;
  if (refusal !== undefined) onLeftOut({ list, name, reason: `it ${refusal}` });
  return refusal === undefined;
}

/** The entries, and of several with one name or URI the first. */
function keepFirst(list: ListKey, entries: readonly JsonObject[], onLeftOut: (fault: ListFault) => void) {
  const first = new Map<unknown, JsonObject>();
  const repeated = new Set<unknown>();
  for (const entry of entries) {
    const id = own(entry, listRules[list].id);
    if (first.has(id)) repeated.add(id);
    else first.set(id, entry);
  }
  for (const id of repeated)
    onLeftOut({ list, name: String(id), reason: "it is listed more than once, and the first one counts" });
  return [...first.values()];
}

/** A page of a list: entries that are valid for each client, and the cursor of the next page. Throws `AnswerError`. */
export function readPage(
  list: ListKey,
  result: Readonly<JsonObject>,
  onLeftOut: (fault: ListFault) => void,
): { entries: JsonObject[]; nextCursor: string | undefined } {
  const written = own(result, list);
  const invalid = `it answered \`${listRules[list].method}\` with an invalid result: \`${list}\``;
  // Some languages write an empty list as null.
  if (written === null) onLeftOut({ list, reason: `${invalid} is null` });
  const members = written ?? [];
  if (!Array.isArray(members)) throw new AnswerError(`${invalid} must be an array`);
  const entries = members.filter((member) => repairEntry(list, member, onLeftOut));
  const cursor = own(result, "nextCursor") ?? undefined;
  if (cursor === undefined || (typeof cursor === "string" && cursor !== ""))
    return { entries, nextCursor: cursor };
  onLeftOut({ list, isRest: true, reason: "its cursor is not a string with characters" });
  return { entries, nextCursor: undefined };
}

/**
 * Fetches every page of a list. Rejects with `AnswerError`, or as `request` does, if the first page cannot be used; another one
 * that cannot be used, which `explain` says, ends the list.
 */
export async function fetchList<Key extends ListKey>(
  list: Key,
  request: (params: JsonObject) => Promise<JsonObject>,
  {
    limits,
    bytesRead,
    onLeftOut,
    explain,
  }: {
    limits: ListLimits;
    bytesRead(): number;
    onLeftOut(fault: ListFault): void;
    explain(error: unknown): string;
  },
): Promise<ServerLists[Key]> {
  const { entries: what } = listRules[list];
  const entries: JsonObject[] = [];
  const cursors = new Set<string>();
  const bytesBefore = bytesRead();
  let listed = 0;
  const fetchPage = async (cursor: string | undefined) => {
    if (cursors.size >= limits.pages)
      throw new AnswerError(`its list of ${what} has more than ${limits.pages} pages`);
    const result = await request(cursor === undefined ? {} : { cursor });
    const members = own(result, list);
    listed += Array.isArray(members) ? members.length : 0;
    if (listed > limits.entries) throw new AnswerError(`it lists more than ${limits.entries} ${what}`);
    if (bytesRead() - bytesBefore > limits.bytes)
      throw new AnswerError(`its list of ${what} has more than ${formatSize(limits.bytes)}`);
    return readPage(list, result, onLeftOut);
  };
  const endWith = (reason: string) => onLeftOut({ list, isRest: true, reason });
  let isRepeated = false;
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor).catch((error) => {
      if (cursor === undefined || !(error instanceof AnswerError)) throw error;
      endWith(explain(error));
      return { entries: [], nextCursor: undefined };
    });
    entries.push(...page.entries);
    cursor = page.nextCursor;
    isRepeated = cursor !== undefined && cursors.has(cursor);
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined && !isRepeated);
  if (isRepeated) endWith("it repeats a cursor");
  // A server without pages gives the same one to every cursor.
  return keepFirst(list, entries, isRepeated ? () => {} : onLeftOut) as unknown as ServerLists[Key];
}
