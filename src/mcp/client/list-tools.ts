import { isRecord } from "../../data/parse-json.ts";
import { formatSize } from "../../problems/index.ts";
import type { AdvertisedTool } from "./connected-server.ts";
import { type JsonObject, own } from "./incoming-message.ts";

export interface ListLimits {
  pages: number;
  tools: number;
  /** Bytes of all pages combined. */
  bytes: number;
}

/** The list of tools is invalid. The message continues the server's name. */
export class ListError extends Error {
  override readonly name = "ListError";
}

const optionalObjects = ["outputSchema", "annotations", "execution", "_meta"] as const;
const optionalTexts = ["title", "description"] as const;

/** The tool with all its keys, except optional ones of the wrong type; or why it is invalid. */
function readTool(value: unknown): AdvertisedTool | { name: string; reason: string } {
  if (!isRecord(value)) return { name: "", reason: "it is not an object" };
  const name = own(value, "name");
  if (typeof name !== "string" || name === "") return { name: "", reason: "it has no name" };
  if (!isRecord(own(value, "inputSchema")))
    return { name, reason: "it has no `inputSchema` that is an object" };
  const tool = { ...value };
  for (const key of optionalObjects) if (!isRecord(own(tool, key))) delete tool[key];
  for (const key of optionalTexts) if (typeof own(tool, key) !== "string") delete tool[key];
  return tool as unknown as AdvertisedTool;
}

/** Fetches every page of `tools/list`. Rejects with `ListError`, or as `request` does. */
export async function listTools(
  request: (params: JsonObject) => Promise<JsonObject>,
  {
    limits,
    bytesRead,
    onInvalidTool,
  }: { limits: ListLimits; bytesRead(): number; onInvalidTool(name: string, reason: string): void },
): Promise<AdvertisedTool[]> {
  const tools: AdvertisedTool[] = [];
  const cursors = new Set<string>();
  const bytesBefore = bytesRead();
  let listed = 0;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const result = await request(cursor === undefined ? {} : { cursor });
    const members = own(result, "tools");
    if (!Array.isArray(members))
      throw new ListError("it answered `tools/list` with an invalid result: `tools` must be an array");
    listed += members.length;
    if (listed > limits.tools) throw new ListError(`it lists more than ${limits.tools} tools`);
    if (bytesRead() - bytesBefore > limits.bytes) {
      throw new ListError(`its list of tools has more than ${formatSize(limits.bytes)}`);
    }
    for (const member of members) {
      const tool = readTool(member);
      if ("inputSchema" in tool) tools.push(tool);
      else onInvalidTool(tool.name, tool.reason);
    }
    const next = own(result, "nextCursor");
    if (typeof next !== "string") return tools;
    if (cursors.has(next)) throw new ListError("its list of tools never ends: a cursor is repeated");
    if (page >= limits.pages) throw new ListError(`its list of tools has more than ${limits.pages} pages`);
    cursors.add(next);
    cursor = next;
  }
}
