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

/** The key somebody may have meant. What all keys begin with makes none of them nearer. */
function findMeant(key: string): string | undefined {
  const [nearest] = findNearestNames(withoutPrefix(key), known.map(withoutPrefix));
  return nearest === undefined ? undefined : `${metaPrefix}${nearest}`;
}

/** `trailblaze/` keys of `_meta` that the host does not read, and values that it cannot. */
export const checkToolMeta: Check = function* ({ inspected }) {
  for (const { item, definition, path } of findTools(inspected.items)) {
    if (!isRecord(definition._meta)) continue;
    for (const [key, value] of Object.entries(definition._meta)) {
      if (!key.toLowerCase().startsWith(metaPrefix) || key === qualifiedNameKey) continue;
      const place = [...path, "_meta", key];
      if (!isMetaKey(key)) {
        yield findInItem(item, "UnknownMetaKey", { key, suggestion: findMeant(key), known }, place);
        continue;
      }
      const fault = findMetaFault(key, value);
      if (fault !== undefined) yield findInItem(item, "InvalidMetaValue", { key, ...fault }, place);
    }
  }
};
