import type { SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findReferences } from "../extension-schema/references.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { findRefusals } from "./excluded.ts";
import type { SessionToolset, ToolItem } from "./items.ts";
import type { Names } from "./names.ts";

/** The sources of a session's toolsets. */
export interface ToolsetSources {
  config: SessionConfig;
  packs: readonly CheckedPack[];
  registered: readonly ToolItem[];
  names: Names<ToolItem>;
  /** All installed packs, and the host's own tools. */
  registry: Registry;
}

export interface CollectedToolsets {
  toolsets: SessionToolset[];
  problems: Problem[];
  /** Problems of the config's own toolsets, with paths from its top. */
  configProblems: Problem[];
}

/** Collects the members of all toolsets: those of the config, of packs, and of tools that name their toolset. */
export function collectToolsets(sources: ToolsetSources): CollectedToolsets {
  const { config, packs, registered, names } = sources;
  const problems: Problem[] = [];
  const configProblems: Problem[] = [];
  const entries = new Map<string, string[]>();
  for (const { shown, bundle } of registered) {
    if (bundle === undefined) continue;
    entries.set(bundle, [...(entries.get(bundle) ?? []), shown.name]);
  }
  const toolsetItems = new Map<string, { item: InspectedItem; pack: DiscoveredPack }>();
  const refused = findRefusals(packs);
  for (const { inspected } of packs) {
    for (const item of inspected.items) {
      if (item.declaration.kind === "toolset" && !refused.has(item.qualifiedName))
        toolsetItems.set(item.qualifiedName, { item, pack: inspected.pack });
    }
  }

  /** The advertised name for a reference, in an array; empty if its tool is installed but not in the session. */
  const findTool = (reference: string, from: "user" | DiscoveredPack): string[] => {
    // A tool of a server is not an item, so its advertised name is its only name.
    try {
      const { qualifiedName } = sources.registry.resolve(reference, { from, kind: "tool" });
      return names.find(qualifiedName).map(({ shown }) => shown.name);
    } catch (error) {
      const found = names.find(reference);
      if (found.length === 1) return found.map(({ shown }) => shown.name);
      throw error;
    }
  };

  const entriesOf = ({ qualifiedName }: InspectedItem) => entries.get(qualifiedName) ?? [];

  /** The members by short name: toolsets that have one in common are merged. */
  const members = new Map<string, Set<string>>();
  const add = (name: string, tools: readonly string[]) =>
    members.set(name, new Set([...(members.get(name) ?? []), ...tools]));
  for (const [name, references] of config.toolsets) {
    const tools = references.flatMap((reference, index) => {
      try {
        return findTool(reference, "user");
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        const explained = error.code === "PackNotInstalled" ? names.explainLabel(reference) : undefined;
        configProblems.push({ ...(explained ?? error).problem, path: ["toolsets", name, index] });
        return [];
      }
    });
    add(name, tools);
  }

  const findMembers = (item: InspectedItem, pack: DiscoveredPack, seen: Set<string>): string[] => {
    if (seen.has(item.qualifiedName)) return [];
    seen.add(item.qualifiedName);
    return findReferences(item).flatMap(({ reference, kind, path }) => {
      if (kind !== "tool" && kind !== "toolset") return [];
      try {
        if (kind === "tool") return findTool(reference, pack);
        const { qualifiedName } = sources.registry.resolve(reference, { from: pack, kind });
        const inner = toolsetItems.get(qualifiedName);
        if (inner?.item.shape === "toolsBundle") return entriesOf(inner.item);
        return inner === undefined ? [] : findMembers(inner.item, inner.pack, seen);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        const { kind: ownKind, name } = item.declaration;
        const place = { pack: pack.name, kind: ownKind, item: name, file: item.file ?? undefined, path };
        const isShort = !reference.includes("/");
        problems.push(
          isShort && kind === "tool"
            ? createProblem("UnknownBuiltIn", { reference, nearest: [] }, place)
            : { ...error.problem, ...place },
        );
        return [];
      }
    });
  };
  for (const { item, pack } of toolsetItems.values()) {
    const { name } = item.declaration;
    if (item.shape === "toolsBundle") add(name, entriesOf(item));
    else if (item.shape === "toolsetList") add(name, findMembers(item, pack, new Set()));
  }
  for (const { shown, meta, toolset } of registered) {
    for (const name of [meta.toolset, toolset]) {
      if (name !== undefined) add(name, [shown.name]);
    }
  }
  const toolsets = [...members].map(([name, tools]) => ({ name, tools: [...tools] }));
  return { toolsets, problems, configProblems };
}
