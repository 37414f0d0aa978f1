import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { mayRefuseContext } from "../../json-schema/refuses-context.ts";
import { type Check, findInItem } from "../finding.ts";
import { advertisedName } from "./subjects.ts";

/** The tools in the declaration of a subprocess server, unless it sets `legacyContext: false`. */
function findOfferedTools({ shape, definition, declaration }: InspectedItem): unknown[] {
  if (shape !== "subprocessServer" || definition?.legacyContext === false) return [];
  const { tools } = declaration.extra;
  return Array.isArray(tools) ? tools : [];
}

/**
 * Finds tools of subprocess servers whose schemas reject `_trailblazeContext`, so that calls omit it. The server's schemas
 * are unknown until it runs, so this checks the tools that its declaration lists and the pack also defines. Other tools
 * receive the context separately from their arguments.
 */
export const checkLegacyContext: Check = function* ({ inspected: { items } }) {
  const offered = new Set(items.flatMap(findOfferedTools));
  if (offered.size === 0) return;
  for (const item of items) {
    if (item.shape !== "tool" || item.definition === null || !isRecord(item.definition.inputSchema)) continue;
    const name = advertisedName(item.definition) ?? item.declaration.name;
    if (![name, item.declaration.name, item.qualifiedName].some((one) => offered.has(one))) continue;
    const { inputSchema } = item.definition;
    if (!mayRefuseContext(inputSchema)) continue;
    const isClosed = inputSchema.additionalProperties === false;
    const path = isClosed ? ["inputSchema", "additionalProperties"] : ["inputSchema"];
    yield findInItem(item, "LegacyContextRejected", { tool: name }, path);
  }
};
