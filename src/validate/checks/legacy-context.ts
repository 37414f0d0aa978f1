import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../definitions/types.ts";
import { type Check, findInItem } from "../finding.ts";
import { advertisedName } from "./subjects/tools.ts";

/** The names of tools that a subprocess server is declared to offer, where it is sent the context in arguments. */
function findOfferedTools({ shape, definition, declaration }: InspectedItem): unknown[] {
  if (shape !== "subprocessServer" || definition?.legacyContext === false) return [];
  const { tools } = declaration.extra;
  return Array.isArray(tools) ? tools : [];
}

/**
 * Tools that allow no further arguments, offered by a subprocess server that is sent one. What such a server advertises
 * is known only once it runs; here it is known of tools that its declaration names and that the pack defines as well,
 * as one does with a tool that runs both ways. A tool that only the host calls gets the context beside its arguments.
 */
export const checkLegacyContext: Check = function* ({ inspected: { items } }) {
  const offered = new Set(items.flatMap(findOfferedTools));
  if (offered.size === 0) return;
  for (const item of items) {
    if (item.shape !== "tool" || item.definition === null || !isRecord(item.definition.inputSchema)) continue;
    const name = advertisedName(item.definition) ?? item.declaration.name;
    if (![name, item.declaration.name, item.qualifiedName].some((one) => offered.has(one))) continue;
    if (item.definition.inputSchema.additionalProperties !== false) continue;
    yield findInItem(item, "LegacyContextRejected", { tool: name }, ["inputSchema", "additionalProperties"]);
  }
};
