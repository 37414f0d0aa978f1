// A session of a selection, instead of what its project has.
import type { BuiltInDefinition } from "../config/session-config.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import { isForAppsAlone } from "../runtime/apps.ts";
import { type CodeOwner, type CodePlace, placeOfCode } from "../runtime/tool-code.ts";
import type { CheckedPack } from "../validate/finding.ts";
import { type Contribution, type ItemOf, isOf, type SessionItem, type ToolItem } from "./items.ts";
import { selectFirst } from "./session-skills.ts";

/** What a session has instead of what its project has: one server, or the members of a composed one. */
export interface Selection {
  /** The name of the server in messages; for one of the config its label. */
  label: string;
  /** Where packs were found. Default: in the project. */
  found?: FoundPacks;
  /** The packs of the server, or of its members and of what entries of bundles refer to, with these items only. */
  packs: readonly CheckedPack[];
  composed?: Composition;
  /** Members also offer tools that need a session or are not for models. */
  allTools?: boolean;
}

export interface Composition {
  instructions?: string | undefined;
  /** The server's item and its pack; `undefined` for a server of the config. */
  origin?: { item: InspectedItem; pack: DiscoveredPack };
  /** In their order, also those that are not approved. */
  members: readonly ServerMember[];
  /** The host's tools among them, and among what entries of bundles refer to. */
  builtIns: readonly BuiltInDefinition[];
}

export interface Initializer {
  name: string;
  owner: CodeOwner;
  place: CodePlace;
  options: Readonly<Record<string, unknown>>;
}

/** The server's `initialize` function, then its tools' in their order. */
function findInitializers(label: string, { origin }: Composition, tools: readonly ToolItem[]): Initializer[] {
  const { item, pack } = origin ?? {};
  const owner = pack && { pack, root: pack.location };
  const place = owner && placeOfCode(item?.definition?.initialize, "initialize", item);
  const ofServer = owner && place && { name: item?.qualifiedName ?? label, owner, place, options: {} };
  const ofTools = tools.flatMap(({ shown, route }) => {
    if (route.by !== "code" || route.code.initialize === undefined) return [];
    const { owner, initialize, options } = route.code;
    return [{ name: shown.qualifiedName ?? label, owner, place: initialize, options }];
  });
  return ofServer ? [ofServer, ...ofTools] : ofTools;
}

function numberAll(items: readonly ItemOf<"tool" | "prompt">[]): void {
  const names = numberNames(items.map(({ shown }) => shown.name));
  for (const [index, { shown }] of items.entries()) shown.name = names[index] ?? shown.name;
}

/** Whether an item is a member, or an entry of a bundle that is one. */
function isMember(one: SessionItem, { kind, name, item }: ServerMember): boolean {
  if (kind === "toolset") return one.kind === "tool" && one.bundle === name;
  if (one.kind !== kind) return false;
  return one.kind === "resource"
    ? one.route.by === "code" && one.route.code.item === item
    : one.shown.qualifiedName === name;
}

/** What a composed server has of all that its packs and the host offer, with numbers for repeated names, and what runs before its code. */
export function selectMembers(
  { label, allTools }: Selection,
  composed: Composition,
  offered: readonly Contribution[],
): { items: SessionItem[]; initializers: Initializer[] } {
  const all = offered.flatMap(({ items }) => items);
  const { items: candidates } = selectFirst(
    composed.members.flatMap((member) => all.filter((one) => isMember(one, member))),
  );
  const items = candidates.filter(
    (one) =>
      one.kind !== "tool" ||
      allTools ||
      ((one.meta.isForLlm || isForAppsAlone(one.shown._meta)) && !one.meta.requiresContext),
  );
  numberAll(items.filter(isOf("tool")));
  numberAll(items.filter(isOf("prompt")));
  return { items, initializers: findInitializers(label, composed, candidates.filter(isOf("tool"))) };
}
