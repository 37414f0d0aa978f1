import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";

/** The name that a definition gives itself, and where; documents have it in their `metadata`. */
function findOwnName({ shape, definition }: InspectedItem): { name: unknown; path: Path } {
  const isDocument = shape === "serverDocument" || shape === "toolsBundle";
  if (!isDocument) return { name: definition?.name, path: ["name"] };
  const metadata = definition?.metadata;
  return { name: isRecord(metadata) ? metadata.name : undefined, path: ["metadata", "name"] };
}

/** Servers, toolsets and prompts that go by another name in their definition than in package.json. */
export const checkItemNames: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    if (item.declaration.kind === "tool") continue;
    const { name, path } = findOwnName(item);
    if (typeof name !== "string" || name.trim() === "" || name === item.declaration.name) continue;
    yield findInItem(item, "NameMismatch", { name, item: item.declaration.name }, path);
  }
};
