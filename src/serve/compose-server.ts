import { isItemAllowed } from "../config/packs-policy.ts";
import type { BuiltInDefinition, SessionConfig, UserComposedServer } from "../config/session-config.ts";
import { mayDenyTools } from "../config/tool-policy.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { declaredDependencies, findProject } from "../discovery/project.ts";
import { type DiscoveredPack, type FoundPack, isUnasked } from "../discovery/types.ts";
import { findReferences, type WrittenReference } from "../extension-schema/references.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { DefinitionLibrary } from "../inspection/definition-library.ts";
import { findPackBySubject, missingPack } from "../inspection/inspect.ts";
import { type Referrer, ServerContentsReader, type ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../kinds.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { type ServedProtocol, servedProtocols } from "../mcp/served-server.ts";
import { failure, type Path, type Problem, TrailblazeError } from "../problems/index.ts";
import { createRegistry } from "../qualified-names/create-registry.ts";
import { findNearestNames, resolveReference } from "../qualified-names/index.ts";
import { isPackageName, splitSpec } from "../qualified-names/item-name.ts";
import { notFoundCode } from "../qualified-names/resolve-reference.ts";
import { pagesOf } from "../runtime/apps.ts";
import {
  planPackServer,
  planRemoteServer,
  planUserServer,
  type ServerPlan,
} from "../runtime/server-launches.ts";
import type { Selection } from "../session/members.ts";
import { describeServers, findForbidden, refuseUnasked } from "../session/select-packs.ts";
import { checkPack } from "../validate/check-packs.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";

/** A server that the host serves itself, with all its members. */
export interface ComposedServer extends Omit<Selection, "allTools"> {
  /** The short name of the item, or the key in the config. */
  name: string;
  info: { name: string; version: string };
  transport: "stdio" | "http";
  protocol: ServedProtocol;
}

/** What a server says of itself, and how it is offered. */
type Offer = Pick<ComposedServer, "name" | "info" | "instructions" | "transport" | "protocol" | "origin">;

/** What to start for a name. */
export type ServeTarget = (
  | { type: "composed"; server: ComposedServer }
  | {
      type: "subprocess";
      plan: ServerPlan;
      /** Of a pack's server. */
      item?: InspectedItem;
      /** Whether the config chooses which of its tools are offered, or their names. */
      hasChoices: boolean;
    }
) & {
  /** For the name of a pack: the qualified name of its only server, or of the pack itself if it has none. */
  ofPack?: string;
};

/** Where to look for a server. */
export interface ServeSources {
  port: InspectionPort;
  config: SessionConfig;
  builtIns: readonly BuiltInDefinition[];
  cwd: string;
  /** What the lock does not approve is left out, and told to `report`. */
  gate?: LockGate | undefined;
  report?(problem: Problem): void;
}

const textOr = (value: unknown, other: string) =>
  typeof value === "string" && value.trim() !== "" ? value : other;
const textOrUndefined = (value: unknown) => (typeof value === "string" ? value : undefined);

const itemsOf = (members: readonly ServerMember[]) => members.flatMap(({ item }) => item ?? []);

const listServers = ({ servers, subprocessServers }: SessionConfig) => [...servers, ...subprocessServers];

/** References of the kinds' lists. */
const toReferences = (
  lists: Readonly<Partial<Record<KindKey, readonly string[]>>>,
  place: Path,
): WrittenReference[] =>
  kinds.flatMap((kind) => {
    const key = keyOfKind[kind];
    return (lists[key] ?? []).map((reference, index) => ({ reference, kind, path: [...place, key, index] }));
  });

const notFound = (name: string) => ({ name, otherKind: undefined, nearest: [] as string[] });

/** Throws for an item that the config excludes. */
function refuseExcluded(
  { policy, workspace }: FoundPacks,
  found: FoundPack,
  { declaration, qualifiedName }: InspectedItem,
): void {
  const isAllowed = isItemAllowed(policy, found.pack.qualifiedName, qualifiedName);
  const reason = isAllowed
    ? findForbidden(workspace, found, declaration)
    : "the config's `packs` excludes it.";
  if (reason === undefined) return;
  throw failure(notFoundCode[declaration.kind], { ...notFound(qualifiedName), reason });
}

/** Throws `DuplicateBundleEntry` for a name in two bundles. */
function checkEntryNames(items: readonly InspectedItem[]): void {
  const owners = new Map<string, string>();
  for (const { definition, qualifiedName, shape } of items) {
    if (shape !== "toolsBundle") continue;
    const entries = Array.isArray(definition?.entries) ? (definition.entries as { name?: unknown }[]) : [];
    for (const { name } of entries) {
      const other = owners.get(String(name));
      if (other !== undefined) {
        throw failure("DuplicateBundleEntry", { name: String(name), bundles: [other, qualifiedName] });
      }
      owners.set(String(name), qualifiedName);
    }
  }
}

class ServerFinder {
  readonly #sources: ServeSources;
  readonly #found: FoundPacks;
  readonly #library: DefinitionLibrary;
  readonly #builtInNames: string[];
  /** The items that the lock refuses. */
  readonly #refused = new Map<InspectedItem, Problem>();

  constructor(sources: ServeSources, found: FoundPacks) {
    const { port, builtIns } = sources;
    this.#sources = sources;
    this.#found = found;
    this.#library = new DefinitionLibrary(port, found, {}, (loaded) => this.#approve(loaded));
    this.#builtInNames = builtIns.map(({ name }) => String(name));
  }

  get #packs(): DiscoveredPack[] {
    return this.#found.packs.map(({ pack }) => pack);
  }

  async find(reference: string): Promise<ServeTarget> {
    const { config, gate, port, report } = this.#sources;
    const pack = findPackBySubject(this.#found, reference);
    const own = config.servers.find(({ name }) => name === reference);
    if (pack !== undefined) {
      const isInConfig = listServers(config).some(({ name }) => name === reference);
      const servers = pack.pack.servers.map(({ qualifiedName }) => qualifiedName);
      const [server = pack.pack.qualifiedName, ...others] = servers;
      if (isInConfig || others.length > 0) {
        throw failure("AmbiguousName", { name: reference, kinds: ["server"], servers, isInConfig });
      }
      const target: ServeTarget =
        servers.length === 0
          ? { type: "composed", server: await this.#composePack(pack) }
          : await this.#findItem(server);
      return { ...target, ofPack: server };
    }
    if (own !== undefined) return { type: "composed", server: await this.#composeOwn(own) };
    const subprocess = config.subprocessServers.find(({ name }) => name === reference);
    if (subprocess !== undefined) {
      const { refusal, problems = [] } = gate?.checkServer(subprocess) ?? {};
      if (refusal !== undefined) throw new TrailblazeError(refusal);
      for (const problem of problems) report?.(problem);
      const { prefix, allow, deny, override } = subprocess.choices;
      const isChanged = (override ?? subprocess.results) !== undefined;
      const hasChoices = isChanged || prefix !== undefined || allow !== undefined || deny.length > 0;
      const plan =
        subprocess.url === undefined
          ? await planUserServer(port, subprocess, config, gate !== undefined)
          : planRemoteServer(subprocess, config, gate !== undefined);
      return { type: "subprocess", plan, hasChoices };
    }
    return this.#findItem(reference);
  }

  /** The same pack, whose refused toolsets add no members; notes the items that the lock refuses. */
  #approve(loaded: InspectedPack): InspectedPack {
    const { gate, report } = this.#sources;
    if (gate === undefined) {
      for (const item of isUnasked(loaded) ? loaded.items : [])
        this.#refused.set(item, refuseUnasked(loaded, item.declaration.name));
      return loaded;
    }
    const checked = gate.checkPack({ inspected: loaded, problems: [], unusable: new Map() });
    for (const problem of checked.problems) report?.(problem);
    const items = checked.inspected.items.map((item) => {
      const problem = checked.unusable.get(item);
      if (problem === undefined) return item;
      const emptied = { ...item.definition, tools: [], toolsets: [], entries: [] };
      const kept = item.declaration.kind === "toolset" ? { ...item, definition: emptied } : item;
      this.#refused.set(kept, problem);
      return kept;
    });
    return { ...checked.inspected, items };
  }

  async #findItem(reference: string): Promise<ServeTarget> {
    const { port, config, gate } = this.#sources;
    const { qualifiedName } = await this.#resolve(reference);
    const [item] = await this.#library.load("server", [qualifiedName]);
    if (item === undefined) throw failure("ServerNotFound", notFound(reference));
    const owner = this.#inspectedOf(item);
    refuseExcluded(this.#found, owner, item);
    await this.#checkItems([item]);
    const refusal = this.#refused.get(item);
    if (refusal !== undefined) throw new TrailblazeError(refusal);
    if (item.shape === "subprocessServer") {
      const described = describeServers(owner)(item.declaration.name);
      const hasChoices = mayDenyTools(config.packs, described);
      const plan = planPackServer(port, owner, item, config, gate !== undefined);
      return { type: "subprocess", plan, item, hasChoices };
    }
    const server = await this.#composeItem(owner, item);
    return { type: "composed", server };
  }

  async #resolve(reference: string) {
    const { config, port } = this.#sources;
    const { manager } = this.#library;
    try {
      return resolveReference(reference, { from: "user", kind: "server", packs: this.#packs, manager });
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      const { project } = this.#found;
      // Two segments without a range may name a server of an unscoped pack, or a scoped pack, which is written so or declared.
      const isScoped = reference.startsWith("@") && isPackageName(reference);
      const isTwofold = /^[^@/]+\/[^@/]+$/.test(reference);
      const name = isScoped ? reference : `@${reference}`;
      const isDeclared = declaredDependencies(findProject(port, project).manifest).has(name);
      const isPack = isScoped || (isTwofold && isDeclared);
      if (isPack && resolveFrom(port, project, name) === undefined)
        throw failure(
          "PackNotInstalled",
          { name, isDeclared, manager },
          { pack: name },
          { missingPack: name },
        );
      // It may be a misspelled name of the config, or `name/tool` with a name of the config.
      const isMissing = error.code === "PackNotInstalled";
      const names = listServers(config).map((server) => server.name);
      const nearest =
        error.code === "ServerNotFound"
          ? findNearestNames(reference, names)
          : names.filter((server) => isMissing && server === reference.split("/")[0]);
      if (nearest.length > 0) throw failure("ServerNotFound", { ...notFound(reference), nearest });
      throw isScoped || (isTwofold && isMissing) ? await missingPack(port, this.#found, reference) : error;
    }
  }

  #composeOwn(own: UserComposedServer): Promise<ComposedServer> {
    const { version } = findProject(this.#sources.port, this.#sources.cwd).manifest?.value ?? {};
    const { name, instructions, transport = "stdio", protocol = "both" } = own;
    const info = { name, version: own.version ?? textOr(version, "0.0.0") };
    const references = toReferences(own, ["servers", name]);
    const offer = { name, info, instructions, transport, protocol, origin: undefined };
    return this.#compose(offer, { from: "user", references, item: undefined });
  }

  #composeItem({ pack }: FoundPack, item: InspectedItem): Promise<ComposedServer> {
    const definition = item.definition ?? {};
    const isDocument = item.shape === "serverDocument";
    const info = (isDocument ? definition.serverInfo : definition) as Record<string, unknown> | undefined;
    const metadata = definition.metadata as Record<string, unknown> | undefined;
    const { name } = item.declaration;
    const isHttp = definition.transport === "http" || definition.kind === "Mcp.HttpEndpoint";
    const offer: Offer = {
      name,
      info: {
        name: textOr(info?.name, textOr(metadata?.name, name)),
        version: textOr(info?.version, pack.version ?? "0.0.0"),
      },
      instructions: textOrUndefined(definition.instructions),
      transport: isHttp ? "http" : "stdio",
      protocol: servedProtocols.find((one) => one === definition.protocol) ?? "both",
      origin: { item, pack },
    };
    return this.#compose(offer, { from: pack, item, references: findReferences(item) });
  }

  /** A server of all tools, bundles, prompts, resources and skills of a pack that the policy allows. */
  async #composePack(found: FoundPack): Promise<ComposedServer> {
    const { pack } = found;
    const { policy, workspace } = this.#found;
    const allowed = (kind: Kind) =>
      pack[keyOfKind[kind]].filter(
        ({ name, qualifiedName }) =>
          isItemAllowed(policy, pack.qualifiedName, qualifiedName) &&
          findForbidden(workspace, found, { kind, name }) === undefined,
      );
    const toolsets = allowed("toolset").map(({ qualifiedName }) => qualifiedName);
    // Other toolsets only list tools.
    const bundles = (await this.#library.load("toolset", toolsets)).filter(
      ({ shape }) => shape === "toolsBundle",
    );
    const isOffered = (name: string) => bundles.some(({ qualifiedName }) => qualifiedName === name);
    const references = kinds.flatMap((kind) =>
      allowed(kind)
        .filter(({ qualifiedName }) => kind !== "toolset" || isOffered(qualifiedName))
        .map(({ name }) => ({ reference: name, kind, path: ["trailblaze", keyOfKind[kind]] })),
    );
    if (references.length === 0) {
      const reason = "The pack has no servers, tools, prompts or resources that can be served.";
      throw failure("ServerNotFound", { ...notFound(pack.qualifiedName), reason });
    }
    const { qualifiedName } = pack;
    const name = qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1);
    const info = { name, version: pack.version ?? "0.0.0" };
    const offer = { name, info, instructions: undefined, transport: "stdio", protocol: "both" } as const;
    return this.#compose({ ...offer, origin: undefined }, { from: pack, item: undefined, references });
  }

  /** A server with all its members. Throws unless all of them exist and are valid. */
  async #compose(offer: Offer, referrer: Referrer): Promise<ComposedServer> {
    const reader = new ServerContentsReader(this.#library, this.#builtInNames, { isHostKnown: true });
    const read = await reader.readMembers(referrer);
    const isApproved = ({ item }: ServerMember) => item === undefined || !this.#refused.has(item);
    const members = read.offered.filter(isApproved);
    const [refusal] = itemsOf([...read.offered, ...read.used]).flatMap(
      (item) => this.#refused.get(item) ?? [],
    );
    if (refusal !== undefined && members.length === 0) throw new TrailblazeError(refusal);
    const [broken] = this.#library.problems.filter(({ severity }) => severity === "error");
    if (broken?.code === "PackNotInstalled") throw this.#missing(broken, reader.missingPacks[0]);
    if (broken !== undefined) throw new TrailblazeError(broken);
    const [repeated] = read.repeatedBundles;
    if (repeated !== undefined) {
      throw failure("DuplicateBundleEntry", { name: undefined, bundles: [repeated.qualifiedName] });
    }
    members.push(...(await this.#findPages(members)));
    const used = [...members, ...read.used.filter(isApproved)];
    const items = itemsOf(used);
    checkEntryNames(itemsOf(members));
    for (const item of items) refuseExcluded(this.#found, this.#inspectedOf(item), item);
    const builtIns = new Set(used.flatMap(({ name, item }) => (item === undefined ? [name] : [])));
    return {
      ...offer,
      label: offer.origin?.item.qualifiedName ?? offer.name,
      members,
      packs: await this.#checkItems(items),
      builtIns: this.#sources.builtIns.filter((one) => builtIns.has(String(one.name))),
      refusals: new Map([...this.#refused].map(([{ qualifiedName }, problem]) => [qualifiedName, problem])),
      registry: createRegistry(this.#packs, {
        builtIns: this.#builtInNames,
        manager: this.#library.manager,
      }),
    };
  }

  /** The pages of apps that tools of packs name, which a server has with them where they may be used. */
  async #findPages(members: readonly ServerMember[]): Promise<ServerMember[]> {
    const pages = new Map<InspectedItem, ServerMember>();
    for (const tool of itemsOf(members)) {
      const named: unknown[] = pagesOf(tool.definition?._meta);
      const { pack } = this.#inspectedOf(tool);
      const resources = named.length === 0 ? [] : pack.resources.map(({ qualifiedName }) => qualifiedName);
      for (const item of await this.#library.load("resource", resources)) {
        const isAllowed = isItemAllowed(this.#found.policy, pack.qualifiedName, item.qualifiedName);
        if (named.includes(item.definition?.uri) && isAllowed && !this.#refused.has(item))
          pages.set(item, { kind: "resource", name: item.qualifiedName, item });
      }
    }
    return [...pages.values()].filter((page) => !members.some(({ item }) => item === page.item));
  }

  /** The error for a reference; `spec` is the missing pack. */
  #missing(problem: Problem, spec: string | undefined): TrailblazeError {
    if (spec === undefined) return new TrailblazeError(problem);
    const { name } = splitSpec(spec);
    if (listServers(this.#sources.config).some((one) => one.name === name)) {
      const meant = failure("PackNotInstalled", { name, inConfig: "server" });
      return new TrailblazeError({ ...problem, ...meant.problem });
    }
    return new TrailblazeError(problem, { missingPack: spec });
  }

  #inspectedOf(item: InspectedItem): InspectedPack {
    const owner = this.#library.sourceOf(item);
    if (owner === undefined) throw new Error(`${item.qualifiedName} was loaded from no pack`);
    return owner;
  }

  /** The packs of items, each with these items. Throws the first error of an item that cannot be used. */
  async #checkItems(items: readonly InspectedItem[]): Promise<CheckedPack[]> {
    const byPack = new Map<InspectedPack, Set<InspectedItem>>();
    for (const item of items) {
      const pack = this.#inspectedOf(item);
      byPack.set(pack, (byPack.get(pack) ?? new Set()).add(item));
    }
    const { port } = this.#sources;
    const packs: CheckedPack[] = [];
    for (const [pack, own] of byPack) {
      const checked = await checkPack(port, { ...pack, items: [...own] }, this.#library.manager);
      const [problem] = checked.unusable.values();
      if (problem !== undefined) throw new TrailblazeError(problem);
      packs.push(checked);
    }
    return packs;
  }
}

/**
 * Finds a server by its name in the config or by its qualified name, with all its members. Reads and evaluates
 * definitions as inspection does; runs nothing. Throws `TrailblazeError` for a missing or invalid member, and what differs from a
 * frozen lock before any other.
 */
export async function findServer(reference: string, sources: ServeSources): Promise<ServeTarget> {
  const { port, cwd, config, gate } = sources;
  const found = await findPacks(port, { cwd, policy: config.packs });
  if (!listServers(config).some(({ name }) => name === reference))
    await lookUpSubject(port, found, reference);
  try {
    return await new ServerFinder(sources, found).find(reference);
  } finally {
    gate?.refuseDifferences();
  }
}
