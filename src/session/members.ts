// The session of a composed server: the members that it has, in its order, instead of what its project has.
import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { isForAppsAlone } from "../runtime/apps.ts";
import { type CodeOwner, type CodePlace, placeOfCode } from "../runtime/tool-code.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { collectBuiltIns, collectBundles, collectPack } from "./collect-items.ts";
import { type ItemOf, isOf, type SessionItem, type ToolItem } from "./items.ts";
import { Holds } from "./read-project.ts";
import { selectFirst } from "./session-skills.ts";
import { SessionState } from "./session-state.ts";

/** The members of a composed server, found and checked. */
export interface Selection {
  /** The name of the server in messages. */
  label: string;
  instructions: string | undefined;
  /** The server's item and its pack; `undefined` for a server of the config. */
  origin: { item: InspectedItem; pack: DiscoveredPack } | undefined;
  members: readonly ServerMember[];
  /** The packs of members, and of what entries of bundles refer to, with these items only. */
  packs: readonly CheckedPack[];
  /** The host's tools among them. */
  builtIns: readonly BuiltInDefinition[];
  /** The tools that are not approved, by qualified name: entries of bundles that refer to them are left out. */
  refusals: ReadonlyMap<string, Problem>;
  registry: Registry;
  /** Also offers tools that need a session or are not for models. */
  allTools: boolean;
}

/** An `initialize` function and its owner. */
export interface Initializer {
  name: string;
  owner: CodeOwner;
  place: CodePlace;
  options: Readonly<Record<string, unknown>>;
}

/** The server's `initialize` function, then its tools' in their order. */
function findInitializers({ origin, label }: Selection, tools: readonly ToolItem[]): Initializer[] {
  const { item, pack } = origin ?? {};
  const owner = pack && { pack, root: pack.location };
  const place = owner && placeOfCode(item?.definition?.initialize, owner.root, "initialize", item);
  const ofServer = owner && place && { name: item?.qualifiedName ?? label, owner, place, options: {} };
  const ofTools = tools.flatMap(({ shown, route }) => {
    if (route.by !== "code" || route.code.code.initialize === undefined) return [];
    const { owner, initialize, options } = route.code.code;
    return [{ name: shown.qualifiedName ?? label, owner, place: initialize, options }];
  });
  return ofServer ? [ofServer, ...ofTools] : ofTools;
}

/** Gives numbers to names that several have. */
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

/** The only state of the session, and what runs before its code. Throws `TrailblazeError` for a bundle or a built-in that cannot be served. */
export async function selectMembers(selection: Selection, config: SessionConfig, port: InspectionPort) {
  const { members, builtIns, registry, allTools, refusals, instructions } = selection;
  const packs = selection.packs.map((one) => {
    const { pack } = one.inspected;
    return { ...one, owner: { pack, root: pack.location } };
  });
  const own = await collectBuiltIns(port, builtIns, config);
  const offered = [own, ...packs.map((pack) => collectPack(pack, config, pack.owner))];
  const bundles = await collectBundles(packs, offered, registry, refusals);
  const faults = [...bundles.flatMap(({ problems }) => problems), ...(own.skipped[0] ? own.problems : [])];
  const broken = faults.find(({ severity }) => severity === "error");
  if (broken !== undefined) throw new TrailblazeError(broken);
  const all = [...offered, ...bundles].flatMap(({ items }) => items);
  const named = members.flatMap((member) => all.filter((one) => isMember(one, member)));
  const { items: candidates } = selectFirst(named);
  const items = candidates.filter(
    (one) =>
      one.kind !== "tool" ||
      allTools ||
      ((one.meta.isForLlm || isForAppsAlone(one.shown._meta)) && !one.meta.requiresContext),
  );
  numberAll(items.filter(isOf("tool")));
  numberAll(items.filter(isOf("prompt")));
  const state = new SessionState({
    config,
    items,
    resourceServers: [],
    toolsets: [],
    shownToolsets: undefined,
    skipped: [],
    problems: [],
    servers: [],
    instructions,
    registry,
    packs,
    holds: new Holds(),
    startOthers: undefined,
  });
  return { state, initializers: findInitializers(selection, candidates.filter(isOf("tool"))) };
}
