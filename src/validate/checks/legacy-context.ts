import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { mayRefuseContext } from "../../json-schema/refuses-context.ts";
import { type Check, findInItem } from "../finding.ts";
import { advertisedName } from "./subjects.ts";

/** The names of tools that a subprocess server is declared to offer, unless it opts out of the context in arguments. */
function findOfferedTools({ shape, definition, declaration }: InspectedItem): unknown[] {
  if (shape !== "subprocessServer" || definition?.legacyContext === false) return [];
  const { tools } = declaration.extra;
  return Array.isArray(tools) ? tools : [];
}

/**
 * Tools of a subprocess server whose schemas refuse `_trailblazeContext`, so that the host leaves it out. What such a
 * server advertises is known only once it runs; here it is known of tools that its declaration names and that the pack
 * defines as well, as one does with a tool that runs both ways. A tool that only the host calls gets the context beside
 * its arguments.
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
