// The session of a composed server: the members that it has, in its order, instead of what its project has.
import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import type { ServerMembers } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { type CodeOwner, type CodePlace, placeOfCode } from "../runtime/tool-code.ts";
import { checkOwnTools } from "../validate/check-packs.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { collectBuiltIns, collectBundles, collectPack, indexCode } from "./collect-items.ts";
import { isOf, type ToolItem } from "./items.ts";
import { findRivals } from "./session-skills.ts";
import { SessionState } from "./session-state.ts";

/** The members of a composed server, found and checked. */
export interface Selection {
  /** The name of the server in messages. */
  label: string;
  instructions: string | undefined;
  /** The server's item and its pack; `undefined` for a server of the config. */
  origin: { item: InspectedItem; pack: DiscoveredPack } | undefined;
  members: ServerMembers;
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
function findInitializers({ origin, label }: Selection, tools: readonly ToolItem[]): readonly Initializer[] {
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
function numberAll(entries: readonly { name: string }[]): void {
  const names = numberNames(entries.map(({ name }) => name));
  for (const [index, entry] of entries.entries()) entry.name = names[index] ?? entry.name;
}

/** The only state of the session, and what runs before its code. Throws `TrailblazeError` for a bundle or a built-in that cannot be served. */
export async function selectMembers(selection: Selection, config: SessionConfig, port: InspectionPort) {
  const { members, builtIns, registry, allTools, refusals, instructions } = selection;
  const packs = selection.packs.map((one) => {
    const { pack } = one.inspected;
    return { ...one, owner: { pack, root: pack.location } };
  });
  const definitions = builtIns.map((definition) => ({ definition, path: undefined }));
  const ownFaults = await checkOwnTools(port, config.directory, builtIns);
  const own = collectBuiltIns(definitions, config, ownFaults);
  const ofPacks = packs.map((pack) => collectPack(pack, config, pack.owner));
  const code = indexCode([own, ...ofPacks]);
  const bundles = await Promise.all(packs.map((one) => collectBundles(one, code, registry, refusals)));
  const faults = [...bundles.flatMap(({ problems }) => problems), ...(own.skipped[0] ? own.problems : [])];
  const broken = faults.find(({ severity }) => severity === "error");
  if (broken !== undefined) throw new TrailblazeError(broken);
  const all = [own, ...ofPacks, ...bundles].flatMap(({ items }) => items);
  const candidates = members.tools.flatMap((member) => {
    if (member.type === "bundle")
      return all.filter(isOf("tool")).filter(({ bundle }) => bundle === member.item.qualifiedName);
    const name = member.type === "builtIn" ? member.name : member.item.qualifiedName;
    return all.filter(isOf("tool")).filter(({ shown }) => shown.qualifiedName === name);
  });
  const tools = candidates.filter(({ meta }) => allTools || (meta.isForLlm && !meta.requiresContext));
  const prompts = members.prompts.flatMap(({ qualifiedName }) =>
    all.filter(isOf("prompt")).filter(({ shown }) => shown.qualifiedName === qualifiedName),
  );
  const resources = members.resources.flatMap((item) =>
    all.filter(isOf("resource")).filter(({ route }) => route.by === "code" && route.code.item === item),
  );
  const skills = members.skills.flatMap(({ qualifiedName }) =>
    all.filter(isOf("skill")).filter(({ shown }) => shown.qualifiedName === qualifiedName),
  );
  const { rivals } = findRivals(skills);
  numberAll(tools.map(({ shown }) => shown));
  numberAll(prompts.map(({ shown }) => shown));
  const state = new SessionState({
    config,
    items: [...tools, ...prompts, ...resources, ...skills.filter((one) => !rivals.has(one))],
    resourceServers: [],
    toolsets: [],
    shownToolsets: undefined,
    skipped: [],
    problems: [],
    servers: [],
    instructions,
    registry,
    packs,
    startOthers: undefined,
  });
  return { state, initializers: findInitializers(selection, candidates) };
}
