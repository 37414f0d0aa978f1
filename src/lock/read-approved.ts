import { isRecord } from "../data/parse-json.ts";
import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "../mcp/client/connected-server.ts";
import { type ApprovedServer, noteOriginal } from "./approved-server.ts";
import { ownEntry } from "./compare.ts";
import type { ListedServer } from "./gate.ts";
import type { Json, LockedItem } from "./types.ts";

/** The text of its lines; `undefined` if there are none. */
const textOf = (lines: Json | undefined): string | undefined =>
  Array.isArray(lines) ? lines.join("\n") : undefined;

/** An entry of a list, with the description as text, the metadata as MCP names it, and what identifies the entry. */
function readEntry<Key extends object>(item: LockedItem, key: Key) {
  const { description, meta, ...others } = item;
  const text = textOf(description);
  const shown = {
    ...(text === undefined ? {} : { description: text }),
    ...(isRecord(meta) ? { _meta: meta } : {}),
  };
  return noteOriginal({ ...others, ...shown, ...key }, item);
}

const readTool = (name: string, item: LockedItem): AdvertisedTool =>
  readEntry(item, { name, inputSchema: isRecord(item.inputSchema) ? item.inputSchema : {} });

/** What the lock approves of a server, as the server would say it; `undefined` if it was never listed. */
export function readApproved(server: ApprovedServer): ListedServer | undefined {
  const { lists, prompts = {}, resources = {}, instructions } = server.locked;
  if (lists == null) return undefined;
  const names = [...new Set([...Object.keys(lists), ...server.denied("tool")])];
  // A URI has no braces.
  const isTemplate = (uri: string) => uri.includes("{");
  const addresses = Object.entries(resources);
  return {
    lists: {
      tools: names.map((name) => readTool(name, ownEntry(lists, name) ?? {})),
      prompts: Object.entries(prompts).map(
        ([name, item]) => readEntry(item, { name }) as unknown as AdvertisedPrompt,
      ),
      resources: addresses.flatMap(([uri, item]) =>
        isTemplate(uri) ? [] : [readEntry(item, { uri }) as unknown as AdvertisedResource],
      ),
      resourceTemplates: addresses.flatMap(([uriTemplate, item]) =>
        isTemplate(uriTemplate)
          ? [readEntry(item, { uriTemplate }) as unknown as AdvertisedResourceTemplate]
          : [],
      ),
    },
    instructions: textOf(instructions),
  };
}
