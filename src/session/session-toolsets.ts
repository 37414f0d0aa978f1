import type { SessionToolset } from "./session-tool.ts";

/** What a toolset refers to, from one of its sources; several sources may contribute to one toolset. */
export interface ToolsetContribution {
  /** Short name. */
  name: string;
  /** Advertised names of tools, in order. */
  tools: readonly string[];
}

/** Merges what sources contribute to toolsets of one short name; each tool once, in the order of the sources. */
export function mergeToolsets(contributions: readonly ToolsetContribution[]): SessionToolset[] {
  const merged = new Map<string, Set<string>>();
  for (const { name, tools } of contributions) {
    const members = merged.get(name) ?? new Set();
    merged.set(name, members);
    for (const tool of tools) members.add(tool);
  }
  return [...merged].map(([name, tools]) => ({ name, tools: [...tools] }));
}
