import { isRecord } from "../../data/parse-json.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, findInItem } from "../finding.ts";
import { advertisedName, findTools, isAdvertisable } from "./subjects.ts";

/** Optional prefixes for app, platform and organization, a verb and a noun, and an optional version from 2. */
const convention = /^([a-z][a-z0-9]*_){0,3}[a-z][A-Za-z0-9]*(_v[2-9]\d*)?$/;

/** Prefixes for tools of the host and of organizations. */
const reservedPrefixes = ["org_", "ios_", "android_", "mobile_", "web_"];

/** Finds valid names of tools that violate the naming convention. */
export const checkToolNames: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    const name = advertisedName(definition);
    if (name === undefined || !isAdvertisable(name)) continue;
    const place = [...path, "name"];
    if (!convention.test(name)) yield findInItem(item, "ToolNameConvention", { name }, place);
    const prefix = reservedPrefixes.find((one) => name.startsWith(one));
    if (prefix !== undefined) yield findInItem(item, "ReservedToolPrefix", { name, prefix }, place);
  }
};

/** Finds names of tools, bundle entries and prompts that clients would reject. */
export const checkAdvertisedNames: Check = function* ({ inspected: { items } }) {
  const prompts = items.flatMap((item) =>
    item.shape === "prompt" ? [{ item, definition: item.definition ?? {}, path: [] }] : [],
  );
  for (const { item, definition, path } of [...findTools(items), ...prompts]) {
    const name = advertisedName(definition);
    if (name !== undefined && !isAdvertisable(name))
      yield findInItem(item, "InvalidAdvertisedName", { name }, [...path, "name"]);
  }
};

/** The name in a definition, with its path. Documents have it in `metadata`. */
function findOwnName({ shape, definition }: InspectedItem): { name: unknown; path: Path } {
  const isDocument = shape === "serverDocument" || shape === "toolsBundle";
  if (!isDocument) return { name: definition?.name, path: ["name"] };
  const metadata = definition?.metadata;
  return { name: isRecord(metadata) ? metadata.name : undefined, path: ["metadata", "name"] };
}

/** Finds servers, toolsets and prompts with a different name in their definition. */
export const checkItemNames: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    if (item.declaration.kind === "tool") continue;
    const { name, path } = findOwnName(item);
    if (typeof name !== "string" || name.trim() === "" || name === item.declaration.name) continue;
    yield findInItem(item, "NameMismatch", { name, item: item.declaration.name }, path);
  }
};
