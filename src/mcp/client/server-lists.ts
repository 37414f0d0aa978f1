import { isRecord } from "../../data/parse-json.ts";
import { formatSize } from "../../problems/index.ts";
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
  /** The keys that identify an entry; each must be a string that is not empty. */
  keys: readonly string[];
  /** Why an entry with these keys is invalid. */
  findFault?(entry: JsonObject): string | undefined;
}

const findArgumentsFault = (prompt: JsonObject): string | undefined => {
  const args = own(prompt, "arguments");
  const isValid = (one: unknown) => isRecord(one) && typeof own(one, "name") === "string";
  return args === undefined || (Array.isArray(args) && args.every(isValid))
    ? undefined
    : "its `arguments` are not an array of objects with a string `name`";
};

export const listRules: Readonly<Record<ListKey, ListRules>> = {
  tools: {
    method: "tools/list",
    capability: "tools",
    entries: "tools",
    keys: ["name"],
    findFault: (tool) =>
      isRecord(own(tool, "inputSchema")) ? undefined : "it has no `inputSchema` that is an object",
  },
  prompts: {
    method: "prompts/list",
    capability: "prompts",
    entries: "prompts",
    keys: ["name"],
    findFault: findArgumentsFault,
  },
  resources: {
    method: "resources/list",
    capability: "resources",
    entries: "resources",
    keys: ["uri", "name"],
  },
  resourceTemplates: {
    method: "resources/templates/list",
    capability: "resources",
    entries: "resource templates",
    keys: ["uriTemplate", "name"],
  },
};

export const listKeys = Object.keys(listRules) as ListKey[];

const optionalObjects = ["outputSchema", "annotations", "execution", "_meta"] as const;
const optionalTexts = ["title", "description", "mimeType"] as const;

/** The entry with all its keys, except optional ones of the wrong type; or why it is invalid. */
function readEntry(
  value: unknown,
  { keys, findFault }: ListRules,
): { entry: JsonObject } | { name: string; reason: string } {
  if (!isRecord(value)) return { name: "", reason: "it is not an object" };
  const isText = (key: string) => typeof own(value, key) === "string" && own(value, key) !== "";
  const [id = ""] = keys;
  const missing = keys.find((key) => !isText(key));
  const fault = missing === undefined ? findFault?.(value) : `it has no ${missing}`;
  if (fault !== undefined) return { name: isText(id) ? String(own(value, id)) : "", reason: fault };
  const entry = { ...value };
  for (const key of optionalObjects) if (!isRecord(own(entry, key))) delete entry[key];
  for (const key of optionalTexts) if (typeof own(entry, key) !== "string") delete entry[key];
  return { entry };
}

/** Fetches every page of a list. Rejects with `ListError`, or as `request` does. */
export async function fetchList<Key extends ListKey>(
  key: Key,
  request: (params: JsonObject) => Promise<JsonObject>,
  {
    limits,
    bytesRead,
    onInvalid,
  }: { limits: ListLimits; bytesRead(): number; onInvalid(name: string, reason: string): void },
): Promise<ServerLists[Key]> {
  const rules = listRules[key];
  const { method, entries: what } = rules;
  const entries: JsonObject[] = [];
  const cursors = new Set<string>();
  const bytesBefore = bytesRead();
  let listed = 0;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const result = await request(cursor === undefined ? {} : { cursor });
    const members = own(result, key);
    if (!Array.isArray(members))
      throw new ListError(`it answered \`${method}\` with an invalid result: \`${key}\` must be an array`);
    listed += members.length;
    if (listed > limits.entries) throw new ListError(`it lists more than ${limits.entries} ${what}`);
    if (bytesRead() - bytesBefore > limits.bytes) {
      throw new ListError(`its list of ${what} has more than ${formatSize(limits.bytes)}`);
    }
    for (const member of members) {
      const read = readEntry(member, rules);
      if ("entry" in read) entries.push(read.entry);
      else onInvalid(read.name, read.reason);
    }
    const next = own(result, "nextCursor");
    if (typeof next !== "string") return entries as unknown as ServerLists[Key];
    if (cursors.has(next)) throw new ListError(`its list of ${what} never ends: a cursor is repeated`);
    if (page >= limits.pages) throw new ListError(`its list of ${what} has more than ${limits.pages} pages`);
    cursors.add(next);
    cursor = next;
  }
}
