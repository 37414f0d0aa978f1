import { replaceUnprintable } from "../problems/hidden-characters.ts";

function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** One JSON document in which every character shows, and nothing is a command in the log of a CI job. */
export function formatJson(document: unknown): string {
  const text = JSON.stringify(document, null, 2).replace(/(##\w*)\[/g, "$1\\u005b");
  return replaceUnprintable(text, escapeUnits);
}
