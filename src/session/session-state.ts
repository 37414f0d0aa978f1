import { locateInConfig } from "../config/config-file.ts";
import { matchesAny } from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { matchesToolName } from "../config/tool-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { findReferences, type WrittenReference } from "../extension-schema/references.ts";
import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import { type InspectedItem, placeInItem } from "../inspection/types.ts";
import type { Era } from "../mcp/client/json-rpc.ts";
import { findInvalidTools } from "../mcp/client/server-lists.ts";
import {
  createProblem,
  failure,
  type Path,
  type Problem,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames, unknownName } from "../qualified-names/nearest-names.ts";
import { isAppUri, isOutside, renameUris, toOutside, toOwn } from "../runtime/apps.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import {
  type Contribution,
  describeUnusable,
  type ItemOf,
  isOf,
  isReported,
  labelOf,
  makerOf,
  type ResourceRoute,
  type Route,
  type SessionItem,
  type SessionTool,
  type Skipped,
  type SkippedTool,
  type SkipReason,
  type ToolItem,
} from "./items.ts";
import { giveNames, Names, patternNames } from "./names.ts";
import { type ProjectReading, sourcesOf } from "./read-project.ts";
import { declarationsOf } from "./select-packs.ts";
import { collectServer, ServerSource } from "./server-source.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { SessionServer } from "./session-servers.ts";
import { selectFirst } from "./session-skills.ts";

/** An MCP server that a session may use, and its state. Its strings are the author's and not trusted. */
export interface SessionServerState {
  /** The name in the config, or the qualified name. */
  label: string;
  source: ToolSource;
  /** `idle`: no call has needed it yet, or for a while. `failed`: it did not start, or has exited. */
  state: "running" | "idle" | "failed" | "excluded";
  /** Why it is excluded or has failed. */
  reason?: SkipReason;
  /** `legacy`: it speaks a revision of MCP up to 2025-11-25. `null` if it has never started. */
  era: Era | null;
  /** The revision of MCP that it speaks; `null` if it has never started. */
  protocolVersion: string | null;
  /** What it says about itself; `null` if it has never started, or does not say. */
  serverInfo: { name: string; version: string } | null;
  /** The advertised names of its registered tools. */
  tools: string[];
}

/** A server of a state: either excluded, or one that starts. */
interface ServerEntry {
  label: string;
  source: ToolSource;
  server?: SessionServer;
  excluded?: Skipped;
}

function collectEntries({ parts }: ProjectReading): ServerEntry[] {
  return parts.flatMap((part): ServerEntry[] => {
    if (part instanceof ServerSource) {
      const { server, offer, plan } = part;
      const { label, source } = plan;
      if (offer?.refusal === undefined) return [{ label, source, server }];
      return [{ label, source, excluded: describeUnusable("server", label, source, offer.refusal) }];
    }
    return part.skipped.flatMap((excluded) => {
      const { source } = excluded;
      const { pack, server } = source;
      if (server === undefined) return [];
      const label = pack === undefined ? server : `${qualifyPackageName(pack)}/${server}`;
      return [{ label, source, excluded }];
    });
  });
}

type StateParts = Awaited<ReturnType<typeof collectParts>>;

/**
 * What a session offers, taken from the project at one moment: its items and names never change, and it is replaced as a whole.
 * What its servers now say is read from them: a call of an older state may be refused.
 */
export class SessionState {
  readonly parts: StateParts;
  readonly config: SessionConfig;
  readonly tools: readonly SessionTool[];
  /** The servers that have started; results may link to more than they list. */
  readonly resourceServers: readonly ServerSource[];
  readonly #servers: readonly ServerEntry[];

  constructor(parts: StateParts) {
    const { reading } = parts;
    this.parts = parts;
    this.config = reading.config;
    this.resourceServers = sourcesOf(reading).filter(({ offer }) => offer && offer.refusal === undefined);
    this.#servers = collectEntries(reading);
    this.tools = this.of("tool").map(({ shown }) => shown);
  }

  of<Kind extends SessionItem["kind"]>(kind: Kind): readonly ItemOf<Kind>[] {
    return this.parts.items.filter(isOf(kind));
  }

  get servers(): SessionServerState[] {
    return this.#servers.map(({ label, source, server, excluded }) => {
      const { era = null, protocolVersion = null, serverInfo = null } = server?.said ?? {};
      const { exit, fault } = server ?? {};
      const failed = fault?.code === "AuthorizationRequired" ? fault.code : "ServerFailed";
      const life = server?.life.is ?? "idle";
      const reason = exit || fault || life === "failed" ? failed : excluded?.reason;
      const state = excluded ? "excluded" : reason ? "failed" : life === "idle" ? "idle" : "running";
      const tools = this.of("tool").flatMap(({ route, shown }) =>
        route.by === "server" && route.from.server === server ? [shown.name] : [],
      );
      return { label, source, state, ...(reason && { reason }), era, protocolVersion, serverInfo, tools };
    });
  }

  /** A server of the state. Throws `TrailblazeError`: `ServerNotFound`, or why it is excluded. */
  findServer(label: string): ServerEntry {
    const labels = this.#servers.map((one) => one.label);
    const entry = this.#servers[labels.indexOf(label)];
    const { excluded } = entry ?? {};
    if (entry === undefined || excluded?.reason === "LockOutdated")
      throw unknownName("ServerNotFound", label, labels);
    if (excluded === undefined) return entry;
    if (excluded.problem !== undefined) throw new TrailblazeError(excluded.problem);
    throw failure("ServerStartFailed", { label, reason: excluded.message.replace(/\.$/, "") });
  }

  get skipped(): SkippedTool[] {
    return this.parts.skipped.flatMap(({ problem: _, kind, ...one }) =>
      isReported(kind) ? [kind === "skill" ? { kind, ...one } : one] : [],
    );
  }

  isShown = ({ toolsets }: SessionTool): boolean =>
    this.parts.shownToolsets?.some((name) => toolsets.includes(name)) ?? true;

  toolsForLlm(): SessionTool[] {
    return this.tools.filter((tool) => tool.isForLlm && this.isShown(tool));
  }

  /** The tool that a name refers to for the host, or for code of a pack. Throws as `Names.resolve`. */
  resolve(name: string, pack?: string): ToolItem {
    return this.parts.names.tool.resolve(String(name), pack);
  }

  /** An answer with URIs of apps as they are outside. Code may pass on what it got of other sources, whose URIs stay. */
  outside<Answer>(answer: Answer, route: Route<unknown>): Answer {
    const others = route.by === "code" ? this.#labels() : [];
    const own = labelOf(route);
    const isOwn = (uri: string) =>
      this.#findRoutes(undefined, (label) => (label === own ? uri : undefined)).length > 0;
    const isPassedOn = (uri: string) => others.some((label) => isOutside(label, uri)) && !isOwn(uri);
    return renameUris(answer, (uri) => (isPassedOn(uri) ? uri : toOutside(own, uri)));
  }

  /** The labels in URIs of apps, also of servers that do not run. */
  #labels(): string[] {
    const packs = this.parts.reading.packs.map(({ inspected }) => inspected.pack.qualifiedName);
    return [...this.#servers.map(({ label }) => label), ...packs];
  }

  /**
   * How a URI is read: by the maker of its link, by the first source that lists it, or by the first with a template for it; of an
   * app also by a server whose tool names it, and without a label where a single source has it. What begins with the label of one
   * source is not read from another, which could pose as it. `undefined` for an unknown URI.
   */
  findResource(uri: string, maker?: string): ResourceRoute | undefined {
    const from = this.resourceServers.find(({ plan }) => plan.key === maker);
    const id = toOwn(from?.plan.label, uri);
    if (from !== undefined && from.findLeft("resource", id) === undefined) return { by: "server", from, id };
    const [first] = this.#findRoutes(maker, (label) =>
      isAppUri(uri) && !isOutside(label, uri) ? undefined : toOwn(label, uri),
    );
    if (first !== undefined || !isAppUri(uri)) return first;
    const owner = this.#labels().find((label) => isOutside(label, uri));
    const routes = this.#findRoutes(maker, (label) => ((owner ?? label) === label ? uri : undefined));
    return new Set(routes.map(labelOf)).size === 1 ? routes[0] : undefined;
  }

  /** `ownOf`: how the source with a label writes the URI; `undefined` if it is not its own. */
  #findRoutes(
    maker: string | undefined,
    ownOf: (label: string | undefined) => string | undefined,
  ): ResourceRoute[] {
    const ranked = this.of("resource").flatMap(({ shown, route }) => {
      const id = ownOf(labelOf(route));
      if (id === undefined) return [];
      const isListed = shown.uri !== undefined && route.id === id;
      const fits = () =>
        route.by === "code"
          ? route.code.match(id) !== undefined
          : fitsServerTemplate(route.id, id) && route.from.findLeft("resource", id) === undefined;
      if (!isListed && (shown.uriTemplate === undefined || !fits())) return [];
      const isMakers = route.by === "code" && maker !== undefined && makerOf(route) === maker;
      return [{ route: { ...route, id }, rank: (isMakers ? 0 : 2) + (isListed ? 0 : 1) }];
    });
    const named = this.resourceServers.flatMap((from): ResourceRoute[] => {
      const id = ownOf(from.plan.label);
      return id !== undefined && from.names(id) ? [{ by: "server", from, id }] : [];
    });
    return [...ranked.sort((a, b) => a.rank - b.rank).map(({ route }) => route), ...named];
  }
}

/** What a part offers now. A state names its tools itself. */
const collect = (part: Contribution | ServerSource): Contribution =>
  part instanceof ServerSource ? collectServer(part) : { ...part, items: part.items.map(copy) };

const copy = <Item extends SessionItem>(item: Item): Item => ({ ...item, shown: { ...item.shown } });

/**
 * The parts of a state with the tools of the servers that have started, and of those that start when they are needed. Throws `TrailblazeError`:
 * `NameCollision`, and `ToolsetNotFound` unless a server could still provide the toolset or the state is not the first one.
 */
export async function collectParts(
  reading: ProjectReading,
  { cwd, options, resources, rules: { selection } }: SessionFrame,
  isFirst: boolean,
) {
  const { config, registry, isPartial } = reading;
  const { nameCollisions } = config;
  const sources = sourcesOf(reading);
  const contributions = reading.parts.map(collect);
  const refusal = selection && sources.flatMap(({ offer }) => offer?.refusal ?? [])[0];
  if (refusal !== undefined) throw new TrailblazeError(refusal);
  const isPending = sources.some(({ server, how }) => !server.said && !server.fault && !how.isLazy);
  const skipped = contributions.flatMap((one) => one.skipped);
  const fitting = contributions
    .flatMap((one) => one.items)
    .filter((item) => {
      const unfit = selection || item.kind !== "tool" ? undefined : explainUnfit(item.meta, config);
      const { name, source } = item.shown;
      if (unfit !== undefined) skipped.push({ kind: "tool", name, source, ...unfit });
      return unfit === undefined;
    });
  const { items, problems: ofSkills } = selectFirst(fitting);
  const tools = items.filter(isOf("tool"));
  const prompts = items.filter(isOf("prompt"));
  const collided = giveNames(tools, nameCollisions) ?? giveNames(prompts, nameCollisions, "prompt");
  // A session for known calls names no tool by a name that others have, too.
  if (collided !== undefined && !reading.isForCalls) throw collided;
  const context = { config, registry, skipped };
  /** What the names of items refer to. They throw `TrailblazeError`s for unknown names. */
  const names = {
    tool: new Names("tool", tools, context),
    prompt: new Names("prompt", prompts, context),
    skill: new Names("skill", items.filter(isOf("skill")), context),
  };
  const collected = collectToolsets(reading, tools, names.tool);
  const problems = [...contributions.flatMap((one) => one.problems), ...ofSkills];
  if (collided !== undefined && !isPartial) problems.push(collided.problem);
  // A problem without a pack is in the config, or in the options.
  const isOfConfig = ({ pack, path }: Problem) => pack === undefined && path !== undefined;
  // Toolsets may refer to tools of servers that have not started, and patterns match them.
  const isComplete = !isPartial && !isPending && selection === undefined;
  const ofConfig = [...problems.filter(isOfConfig), ...(isComplete ? collected.configProblems : [])];
  let unmatched = isComplete ? findUnmatchedPatterns(reading, reading.found) : [];
  // Only what is declared was read before.
  if (unmatched.length > 0) {
    const found = await findPacks(inspectionPort, { cwd, policy: config.packs, all: true });
    unmatched = findUnmatchedPatterns(reading, found);
  }
  // A server that has failed may have the tool.
  if (isComplete && sources.every(({ offer }) => offer !== undefined))
    unmatched.push(...findUnmatchedCalls(config, contributions));
  const { toolsets } = collected;
  for (const { shown } of tools)
    shown.toolsets = toolsets.filter((one) => one.tools.includes(shown.name)).map(({ name }) => name);
  const [said] = sources.flatMap(({ offer }) => offer?.instructions ?? []);
  const all: readonly Problem[] = [
    // First, because a `deny` that matches nothing excludes nothing.
    ...(await resources.step(locateInConfig(unmatched, config.text))),
    ...reading.problems,
    ...problems.filter((problem) => !isOfConfig(problem)),
    ...(isComplete ? collected.problems : []),
    ...(await resources.step(locateInConfig(ofConfig, config.text))),
  ];
  /** Short names of toolsets; `undefined` shows every tool. */
  const shownToolsets = options.toolsets?.map((reference) => {
    // Toolsets are merged by short name, so a qualified name selects the merged one.
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    const known = toolsets.map((toolset) => toolset.name);
    if (!isFirst || isPending || known.includes(name)) return name;
    throw unknownName("ToolsetNotFound", name, known, { name: reference });
  });
  /** What the only server says to models; `undefined` for a session of several. */
  const instructions = selection && (selection.composed?.instructions ?? said);
  return { reading, items, names, skipped, toolsets, shownToolsets, problems: all, instructions };
}

function explainUnfit(
  { requiresHost, supportedDrivers, supportedPlatforms }: ToolMeta,
  { device, preferHostAgent }: Pick<SessionConfig, "device" | "preferHostAgent">,
): { reason: SkipReason; message: string } | undefined {
  if (requiresHost && !preferHostAgent) {
    return { reason: "RequiresHost", message: "Requires an agent that runs on the host." };
  }
  const limits = [
    { of: "platform", value: device?.platform, supported: supportedPlatforms, reason: "PlatformUnsupported" },
    { of: "driver", value: device?.driverType, supported: supportedDrivers, reason: "DriverUnsupported" },
  ] as const;
  for (const { of, value, supported, reason } of limits) {
    if (supported.length === 0 || (value != null && supported.includes(value))) continue;
    const unmet = value == null ? `Requires a ${of}` : `Not supported with ${of} ${quote(value, 40)}`;
    const names = supported.map((name) => quote(name, 40)).join(", ");
    return { reason, message: `${unmet}; supported ${of}s: ${names}.` };
  }
  return undefined;
}

/** Toolsets of one short name are merged. `configProblems` have paths from the config's top. */
function collectToolsets(
  { config, packs, registry }: ProjectReading,
  tools: readonly ToolItem[],
  names: Names<ToolItem>,
) {
  const problems: Problem[] = [];
  const configProblems: Problem[] = [];
  const members = new Map<string, Set<string>>();
  const add = (name: string, added: readonly string[]) =>
    members.set(name, new Set([...(members.get(name) ?? []), ...added]));
  const items = packs.flatMap(({ inspected, unusable }) =>
    inspected.items.filter(
      (item) => item.shape !== undefined && item.declaration.kind === "toolset" && !unusable.has(item),
    ),
  );

  /** `owner`: the toolset that has the reference; `undefined` for one of the config. */
  const report = (error: TrailblazeError, written: WrittenReference, owner: InspectedItem | undefined) => {
    const { reference, kind, path } = written;
    if (owner === undefined) {
      const explained = error.code === "PackNotInstalled" ? names.explainLabel(reference) : undefined;
      configProblems.push({ ...(explained ?? error).problem, path });
      return;
    }
    const isUnknown = kind === "tool" && !reference.includes("/");
    const problem = isUnknown ? createProblem("UnknownBuiltIn", { reference, nearest: [] }) : error.problem;
    problems.push(placeInItem(owner, { ...problem, path }).problem);
  };
  /** The advertised names of the tools that references mean; none for what is installed but not in the session. */
  const findAll = (
    references: readonly WrittenReference[],
    owner?: InspectedItem,
    seen = new Set<InspectedItem>(),
  ): string[] =>
    references.flatMap((written) => {
      const { reference, kind } = written;
      try {
        const { qualifiedName } = registry.resolve(reference, { from: owner?.pack ?? "user", kind });
        if (kind === "tool") return names.find(qualifiedName).map(({ shown }) => shown.name);
        const inner = items.find((item) => item.qualifiedName === qualifiedName);
        return inner === undefined ? [] : findMembers(inner, seen);
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        // A tool of a server is not an item, so its advertised name is its only name.
        const named = kind === "tool" ? names.find(reference) : [];
        if (named.length === 1) return named.map(({ shown }) => shown.name);
        report(error, written, owner);
        return [];
      }
    });
  const findMembers = (item: InspectedItem, seen = new Set<InspectedItem>()): string[] => {
    if (item.shape === "toolsBundle")
      return tools.flatMap(({ bundle, shown }) => (bundle === item.qualifiedName ? [shown.name] : []));
    return seen.has(item) ? [] : findAll(findReferences(item), item, seen.add(item));
  };

  for (const [name, references] of config.toolsets) {
    const written = references.map((reference, index) => {
      return { reference, kind: "tool" as const, path: ["toolsets", name, index] };
    });
    add(name, findAll(written));
  }
  for (const item of items) add(item.declaration.name, findMembers(item));
  for (const { shown, meta, toolset } of tools)
    for (const name of [meta.toolset, toolset]) if (name !== undefined) add(name, [shown.name]);
  const toolsets = [...members].map(([name, found]) => ({ name, tools: [...found] }));
  return { toolsets, problems, configProblems };
}

/** The patterns at a path of the config, each by its key, that match nothing of what is known, with similar names. */
function findUnmatched(
  path: Path,
  patterns: Iterable<readonly [string | number, string]>,
  known: readonly string[],
  matches = (pattern: string) => matchesAny([pattern], known),
): Problem[] {
  return [...patterns].flatMap(([at, pattern]) => {
    if (matches(pattern)) return [];
    const nearest = findNearestNames(pattern.replace(/^@/, ""), known);
    const args = { key: path.join("."), pattern, nearest };
    return createProblem("UnmatchedPattern", args, { path: [...path, at] });
  });
}

function findUnknownKeys(path: Path, keys: Iterable<string>, known: readonly string[]): Problem[] {
  const patterns = Array.from(keys, (key) => [key, key] as const);
  return findUnmatched(path, patterns, known, (key) => known.includes(key));
}

/** Patterns of `calls` that match nothing, of all tools of the session, also those that do not fit its device. */
function findUnmatchedCalls({ calls }: SessionConfig, contributions: readonly Contribution[]): Problem[] {
  if (calls === undefined) return [];
  const names = contributions.flatMap(({ items }) => items.filter(isOf("tool")).flatMap(patternNames));
  return (["deny", "ask"] as const).flatMap((key) =>
    findUnmatched(["calls", key], calls[key].entries(), names),
  );
}

/**
 * Patterns and names in the config that match nothing of `all`: those of `deny` first, because they exclude nothing. Patterns of
 * `allow` may name what is installed later. All servers must have started. Problems have paths from the config's top.
 */
function findUnmatchedPatterns(reading: ProjectReading, all: FoundPacks): Problem[] {
  const { packs: policy, options } = reading.config;
  // The lock has no tools that the config excludes, so a server that has not run may have more than it.
  const servers = sourcesOf(reading).flatMap(({ plan, server: { said }, offer }) => {
    if (said === undefined || offer?.refusal !== undefined) return [];
    const invalid = findInvalidTools(said.leftOut).map(({ name }) => name);
    const named = said.entries.filter(({ kind }) => kind !== "skill").map(({ entry }) => entry.name);
    const listed = said.entries.filter((one) => one.kind === "tool").map(({ entry }) => entry);
    const tools = [...listed.map(({ name }) => name), ...invalid];
    return [{ plan, listed, names: [...named, ...invalid], tools }];
  });
  const packNames = all.packs.map(({ pack }) => pack.qualifiedName);
  const names = [
    ...packNames,
    ...all.packs.flatMap((one) => declarationsOf(one).map(({ name }) => `${one.pack.qualifiedName}/${name}`)),
    ...servers.flatMap(({ plan: { pack }, names }) => (pack ? names.map((name) => `${pack}/${name}`) : [])),
  ];
  // Where a pack has a server that has not listed what it has, a pattern may match a tool that is unknown.
  const others = reading.packs.flatMap(({ inspected }) =>
    inspected.items.filter(({ shape }) => shape !== undefined && shape !== "subprocessServer"),
  );
  const listed = new Set([
    ...servers.map(({ plan }) => plan.label),
    ...others.map(({ qualifiedName }) => qualifiedName),
  ]);
  const unknown = all.packs
    .filter(({ pack }) => pack.servers.some(({ qualifiedName }) => !listed.has(qualifiedName)))
    .map(({ pack }) => pack.qualifiedName);
  const mayMatch = (pattern: string) =>
    matchesAny([pattern], names) || matchesAny([pattern.replace(/\/?[^/]*$/, "")], unknown);
  const ofServers = servers.flatMap(({ plan: { entry, place }, tools }) => {
    const path = [...(place.path ?? []), "tools", "deny"];
    const isListed = (pattern: string) => tools.some((name) => matchesToolName([pattern], name));
    return findUnmatched(path, (entry.choices?.deny ?? []).entries(), tools, isListed);
  });
  const ofOverrides = servers.flatMap(({ plan: { entry, place }, listed, tools }) => {
    const { override = {} } = entry.choices ?? {};
    const path = [...(place.path ?? []), "tools", "override"];
    const ofTools = Object.entries(override).flatMap(([name, { arguments: fixed = {} }]) => {
      const { inputSchema } = listed.find((tool) => tool.name === name) ?? {};
      const properties = isRecord(inputSchema?.properties) ? Object.keys(inputSchema.properties) : [];
      return inputSchema ? findUnknownKeys([...path, name, "arguments"], Object.keys(fixed), properties) : [];
    });
    return [...findUnknownKeys(path, Object.keys(override), tools), ...ofTools];
  });
  const toolsOfPacks = all.packs.flatMap(({ pack }) => pack.tools.map(({ qualifiedName }) => qualifiedName));
  const memory = typeof policy.memory === "string" ? [] : Object.keys(policy.memory);
  return [
    ...findUnmatched(["packs", "deny"], policy.deny.entries(), names, mayMatch),
    ...ofServers,
    ...ofOverrides,
    ...findUnmatched(["packs", "transitive"], policy.transitive.entries(), names, mayMatch),
    ...findUnknownKeys(["packs", "memory"], memory, packNames),
    ...findUnknownKeys(["options"], options.keys(), [...reading.registry.builtIns, ...toolsOfPacks]),
  ];
}
