import { replaceUnprintable } from "../problems/hidden-characters.ts";

function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** One JSON document in which every character shows, as people may read it on a terminal. */
export function formatJson(document: unknown): string {
  return replaceUnprintable(JSON.stringify(document, null, 2), escapeUnits);
}
