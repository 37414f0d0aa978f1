import { type Needs, needsKeys } from "../extension-schema/index.ts";

/** Users do not read more names before they answer a prompt. */
const maximumNames = 40;

/** Names in one line, cut after the first forty. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, maximumNames).join(", ");
  return names.length > maximumNames ? `${shown} and ${names.length - maximumNames} more` : shown;
}

/** What a pack needs, by key; empty if it declares nothing. */
export function formatNeeds(needs: Needs | undefined): [key: string, value: string][] {
  if (needs === undefined) return [];
  return needsKeys.map((key) => {
    const entries = needs[key];
    if (entries === undefined) return [key, "not declared"];
    return [key, entries.length === 0 ? "none" : formatNames(entries)];
  });
}
