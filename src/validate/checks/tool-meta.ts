import { isRecord } from "../../data/parse-json.ts";
import {
  findMetaFault,
  isMetaKey,
  metaKeys,
  metaPrefix,
  qualifiedNameKey,
} from "../../extension-schema/meta-keys.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Check, findInItem } from "../finding.ts";
import { findTools } from "./subjects.ts";

const known = Object.keys(metaKeys);
const withoutPrefix = (key: string) => key.slice(metaPrefix.length);

/** Suggests a similar key. Compares keys without their common prefix. */
function suggestMetaKey(key: string): string | undefined {
  const [nearest] = findNearestNames(withoutPrefix(key), known.map(withoutPrefix));
  return nearest === undefined ? undefined : `${metaPrefix}${nearest}`;
}

/** Finds unknown `trailblaze/` keys of `_meta`, and invalid values. */
export const checkToolMeta: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    if (!isRecord(definition._meta)) continue;
    for (const [key, value] of Object.entries(definition._meta)) {
      if (!key.toLowerCase().startsWith(metaPrefix) || key === qualifiedNameKey) continue;
      const place = [...path, "_meta", key];
      if (!isMetaKey(key)) {
        yield findInItem(item, "UnknownMetaKey", { key, suggestion: suggestMetaKey(key), known }, place);
        continue;
      }
      const fault = findMetaFault(key, value);
      if (fault !== undefined) yield findInItem(item, "InvalidMetaValue", { key, ...fault }, place);
    }
  }
};
