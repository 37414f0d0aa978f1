import { resolve } from "node:path";
import { isAllowed } from "../config/packs-policy.ts";
import { checkBuiltIns, readConfig } from "../config/read-config.ts";
import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { mayNameTools } from "../config/tool-policy.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { findProject } from "../discovery/project.ts";
import { type DiscoveredPack, type FoundPack, isUnasked } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import { findReferences } from "../extension-schema/references.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { findPackBySubject, missingPack } from "../inspection/inspect.ts";
import { createLibrary, type DefinitionLibrary } from "../inspection/load-definitions.ts";
import { readMembers, type ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { byKind, type Kind, keyOfKind } from "../kinds.ts";
import { openLockGate } from "../lock/gate.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { type ServedProtocol, servedProtocols } from "../mcp/served-server.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { splitSpec } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { notFoundCode, resolveReference } from "../qualified-names/resolve-reference.ts";
import { pagesOf } from "../runtime/apps.ts";
import { entryNamesOf } from "../runtime/bundle.ts";
import { type ProgramPlan, planPackServer, planUserServer } from "../runtime/server-launches.ts";
import type { Selection } from "../session/read-project.ts";
import { describeServer, findForbidden, refuseUnasked } from "../session/select-packs.ts";
import { checkPack } from "../validate/check-packs.ts";
import type { CheckedPack } from "../validate/finding.ts";
import type { ServeOptions } from "./serve-options.ts";

interface FoundServer {
  /** The short name of the item, or the key in the config. */
  name: string;
  /** `undefined` for a subprocess server of the config. */
  definition?: Readonly<Record<string, unknown>>;
  selection: Selection;
  /** What a composed server says of itself. */
  info?: { name: string; version: string };
  /** How a composed server is served by default. */
  transport?: "stdio" | "http";
  protocol?: ServedProtocol;
  /** Of a program of which neither a lock nor the config changes what it offers. */
  plan?: ProgramPlan | undefined;
  /** For the name of a pack: the qualified name of its only server, or of the pack itself if it has none. */
  ofPack?: string;
}

export type ServeTarget = FoundServer & { gate: LockGate | undefined };

interface Sources {
  config: SessionConfig;
  builtIns: readonly BuiltInDefinition[];
  found: FoundPacks;
  /** What the lock does not approve is left out; the session that is opened tells of it. */
  gate: LockGate | undefined;
}

const textOr = (value: unknown, other: string) =>
  typeof value === "string" && value.trim() !== "" ? value : other;

const itemsOf = (members: readonly ServerMember[]) => members.flatMap(({ item }) => item ?? []);

const listServers = ({ servers, subprocessServers }: SessionConfig) => [...servers, ...subprocessServers];

type Named = Readonly<{ name?: unknown; version?: unknown }>;

/** A composed server as its definition says, or what stands for one. */
interface WrittenServer extends Pick<FoundServer, "name"> {
  definition: Readonly<Record<string, unknown>>;
  from: DiscoveredPack | "user";
  /** `undefined` for a server of the config, and for a whole pack. */
  item?: InspectedItem;
}

const notFound = (name: string) => ({ name, nearest: [] as string[] });

/** Throws `DuplicateBundleEntry` for a name in two bundles. */
function checkEntryNames(items: readonly InspectedItem[]): void {
  const owners = new Map<string, string>();
  for (const item of items) {
    for (const name of item.shape === "toolsBundle" ? entryNamesOf(item) : []) {
      const other = owners.get(name);
      if (other !== undefined)
        throw failure("DuplicateBundleEntry", { name, bundles: [other, item.qualifiedName] });
      owners.set(name, item.qualifiedName);
    }
  }
}

class ServerFinder {
  readonly #sources: Sources;
  readonly #library: DefinitionLibrary;
  /** What was loaded of packs, by what the library has of it. */
  readonly #checked = new Map<InspectedItem, CheckedPack>();

  constructor(sources: Sources) {
    this.#sources = sources;
    this.#library = createLibrary(port, sources.found, {}, (loaded) => this.#check(loaded));
  }

  /** Whether neither a lock nor the config as a whole changes what servers offer. */
  get #isOpen(): boolean {
    const { gate, config } = this.#sources;
    return gate === undefined && (config.results ?? config.calls) === undefined;
  }

  async find(reference: string): Promise<FoundServer> {
    const { config, gate } = this.#sources;
    const pack = findPackBySubject(this.#sources.found, reference);
    const own = config.servers.find(({ name }) => name === reference);
    if (pack !== undefined) {
      const isInConfig = listServers(config).some(({ name }) => name === reference);
      const servers = pack.pack.servers.map(({ qualifiedName }) => qualifiedName);
      const [server = pack.pack.qualifiedName, ...others] = servers;
      if (isInConfig || others.length > 0) {
        throw failure("AmbiguousName", { name: reference, kinds: ["server"], servers, isInConfig });
      }
      const target = await (servers.length === 0 ? this.#composePack(pack) : this.#findItem(server));
      return { ...target, ofPack: server };
    }
    if (own !== undefined) return this.#compose({ name: own.name, definition: { ...own }, from: "user" });
    const subprocess = config.subprocessServers.find(({ name }) => name === reference);
    if (subprocess !== undefined) {
      const refusal = gate?.checkServer(subprocess).refusal;
      if (refusal !== undefined) throw new TrailblazeError(refusal);
      const { name, url, results, choices } = subprocess;
      const changes = [url, results, choices.prefix, choices.allow, choices.override, choices.deny[0]];
      const isPlain = this.#isOpen && changes.every((change) => change === undefined);
      const plan = isPlain ? await planUserServer(subprocess, config) : undefined;
      return { name, selection: { label: name, found: this.#sources.found, packs: [] }, plan };
    }
    return this.#findItem(reference);
  }

  /** Notes which items of what was loaded of a pack cannot be used, or are not approved. */
  async #check(loaded: InspectedPack): Promise<InspectedPack> {
    const { gate } = this.#sources;
    const unasked = (isUnasked(loaded) ? loaded.items : []).map(
      (item) => [item, refuseUnasked(loaded, item.declaration.name)] as const,
    );
    const open = { inspected: loaded, problems: [], unusable: new Map(unasked) };
    const { inspected, problems, unusable } = gate?.checkPack({ ...open, unusable: new Map() }) ?? open;
    // What is not approved is left out, valid or not.
    const valid = await checkPack(inspected, this.#sources.found);
    const checked = { inspected, problems, unusable: new Map([...valid.unusable, ...unusable]) };
    for (const item of inspected.items) this.#checked.set(item, checked);
    return inspected;
  }

  #checkedOf(item: InspectedItem): CheckedPack {
    // The library has no other items.
    return this.#checked.get(item) as CheckedPack;
  }

  #refusalOf(item: InspectedItem): Problem | undefined {
    const fault = this.#checkedOf(item).unusable.get(item);
    return fault?.code === "NotApproved" ? fault : undefined;
  }

  /** Why the config, or pnpm's file for a workspace, excludes an item. */
  #exclusionOf(found: FoundPack, item: Pick<Declaration, "kind" | "name">): string | undefined {
    const { policy, workspace } = this.#sources.found;
    const { qualifiedName } = found.pack;
    return isAllowed(policy, [qualifiedName, `${qualifiedName}/${item.name}`])
      ? findForbidden(workspace, found, item)
      : "the config's `packs` excludes it.";
  }

  /** Throws for an item that is excluded or that cannot be used. */
  #refuseUnusable(item: InspectedItem): void {
    const { declaration, qualifiedName } = item;
    const { inspected, unusable } = this.#checkedOf(item);
    const reason = this.#exclusionOf(inspected, declaration);
    if (reason !== undefined)
      throw failure(notFoundCode[declaration.kind], { ...notFound(qualifiedName), reason });
    const fault = unusable.get(item);
    if (fault !== undefined) throw new TrailblazeError(fault);
  }

  async #findItem(reference: string): Promise<FoundServer> {
    const { config } = this.#sources;
    const { qualifiedName } = await this.#resolve(reference);
    const [item] = await this.#library.load("server", [qualifiedName]);
    if (item === undefined) throw failure("ServerNotFound", notFound(reference));
    const checked = this.#checkedOf(item);
    const { inspected } = checked;
    const { name } = item.declaration;
    this.#refuseUnusable(item);
    const definition = item.definition ?? {};
    if (item.shape !== "subprocessServer")
      return this.#compose({ name, definition, from: inspected.pack, item });
    const isPlain = this.#isOpen && !mayNameTools(config.packs.deny, describeServer(inspected, name));
    const plan = isPlain ? planPackServer(inspected, item, config) : undefined;
    const selection = { label: item.qualifiedName, found: this.#sources.found, packs: [checked] };
    return { name, definition, selection, plan };
  }

  async #resolve(reference: string) {
    const { config } = this.#sources;
    const manager = this.#library.manager();
    const packs = this.#sources.found.packs.map(({ pack }) => pack);
    try {
      return resolveReference(reference, { from: "user", kind: "server", packs, manager });
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      // Two segments may also be a scoped pack, or `name/tool` with a name of the config.
      if (error.code !== "ServerNotFound" && /^@?[^@/]+\/[^@/]+$/.test(reference))
        throw await missingPack(this.#sources.found, reference);
      const names = listServers(config).map((server) => server.name);
      const nearest = error.code === "ServerNotFound" ? findNearestNames(reference, names) : [];
      throw nearest.length > 0 ? failure("ServerNotFound", { ...notFound(reference), nearest }) : error;
    }
  }

  /** A server of all tools, bundles, prompts, resources and skills of a pack that the policy allows. */
  async #composePack(found: FoundPack): Promise<FoundServer> {
    const { pack } = found;
    const allowed = (kind: Kind) =>
      pack[keyOfKind[kind]].filter(({ name }) => this.#exclusionOf(found, { kind, name }) === undefined);
    const toolsets = allowed("toolset").map(({ qualifiedName }) => qualifiedName);
    const loaded = await this.#library.load("toolset", toolsets);
    // Other toolsets only list tools.
    const bundles = loaded.filter(({ shape }) => shape === "toolsBundle");
    const members = {
      ...byKind((_, kind) => allowed(kind).map(({ name }) => name)),
      toolsets: bundles.map(({ declaration }) => declaration.name),
    };
    if (Object.values(members).every((names) => names.length === 0)) {
      const reason = "The pack has no servers, tools, prompts or resources that can be served.";
      throw failure("ServerNotFound", { ...notFound(pack.qualifiedName), reason });
    }
    const name = pack.qualifiedName.slice(pack.qualifiedName.lastIndexOf("/") + 1);
    return this.#compose({ name, definition: members, from: pack });
  }

  /** A server with all its members. Throws unless all of them exist and are valid. */
  async #compose({ name, definition, from, item }: WrittenServer): Promise<FoundServer> {
    const { config, builtIns } = this.#sources;
    const shape = item?.shape ?? "composedServer";
    const path = from === "user" ? ["servers", name] : [];
    const written = findReferences({ shape, definition });
    const references = written.map((one) => ({ ...one, path: [...path, ...one.path] }));
    const isRefused = (item: InspectedItem) => this.#refusalOf(item) !== undefined;
    const { offered, used, repeatedBundles, missingPacks } = await readMembers(
      { library: this.#library, builtIns: builtIns.map((one) => String(one.name)), isRefused },
      { from, item, references },
    );
    const isLeft = ({ item }: ServerMember) => item === undefined || !isRefused(item);
    const [refusal] = itemsOf([...offered, ...used]).flatMap((item) => this.#refusalOf(item) ?? []);
    if (refusal !== undefined && !offered.some(isLeft)) throw new TrailblazeError(refusal);
    const [broken] = this.#library.problems.filter(({ severity }) => severity === "error");
    if (broken?.code === "PackNotInstalled") throw this.#missing(broken, missingPacks[0]);
    if (broken !== undefined) throw new TrailblazeError(broken);
    const [repeated] = repeatedBundles;
    if (repeated !== undefined) {
      throw failure("DuplicateBundleEntry", { name: undefined, bundles: [repeated.qualifiedName] });
    }
    const approved = offered.filter(isLeft);
    checkEntryNames(itemsOf(approved));
    const members = [...offered, ...(await this.#findPages(approved))];
    const all = [...members, ...used];
    for (const one of itemsOf(all.filter(isLeft))) this.#refuseUnusable(one);
    const ofHost = new Set(all.flatMap((one) => (one.item === undefined ? [one.name] : [])));
    const info = (shape === "serverDocument" ? definition.serverInfo : definition) as Named | undefined;
    const metadata = definition.metadata as Named | undefined;
    const { version } = from === "user" ? (findProject(port, config.project).manifest?.value ?? {}) : from;
    const isHttp = definition.transport === "http" || definition.kind === "Mcp.HttpEndpoint";
    return {
      name,
      definition,
      info: {
        name: textOr(info?.name, textOr(metadata?.name, name)),
        version: textOr(info?.version, textOr(version, "0.0.0")),
      },
      transport: isHttp ? "http" : "stdio",
      protocol: servedProtocols.find((one) => one === definition.protocol) ?? "both",
      selection: {
        label: item?.qualifiedName ?? name,
        found: this.#sources.found,
        packs: [...new Set(this.#checked.values())],
        composed: {
          instructions: typeof definition.instructions === "string" ? definition.instructions : undefined,
          origin: item && from !== "user" ? { item, pack: from } : undefined,
          members,
          builtIns: builtIns.filter((one) => ofHost.has(String(one.name))),
        },
      },
    };
  }

  /** The pages of apps that tools of packs name, which a server has with them where they may be used. */
  async #findPages(members: readonly ServerMember[]): Promise<ServerMember[]> {
    const pages = new Map<InspectedItem, ServerMember>();
    for (const tool of itemsOf(members)) {
      const named: unknown[] = pagesOf(tool.definition?._meta);
      const { inspected } = this.#checkedOf(tool);
      const declared = named.length === 0 ? [] : inspected.pack.resources;
      const resources = declared.map(({ qualifiedName }) => qualifiedName);
      for (const item of await this.#library.load("resource", resources)) {
        if (!named.includes(item.definition?.uri) || this.#refusalOf(item) !== undefined) continue;
        if (this.#exclusionOf(inspected, item.declaration) === undefined)
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
}

/**
 * Finds a server by its name in the config or by its qualified name, with all its members. Reads and evaluates
 * definitions as inspection does; runs nothing. Throws `TrailblazeError` for a missing or invalid member, and what differs from a
 * frozen lock before any other.
 */
export async function findServer(
  reference: string,
  options: Pick<ServeOptions, "cwd" | "config" | "builtIns" | "lock">,
): Promise<ServeTarget> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const { directory } = findProject(port, cwd);
  const config = await readConfig(port, { directory, config: options.config, cwd });
  const builtIns = [...config.builtIns, ...(await checkBuiltIns(options.builtIns ?? []))];
  const gate = await openLockGate(config, options.lock);
  const found = await findPacks(port, { cwd, policy: config.packs });
  if (!listServers(config).some(({ name }) => name === reference))
    await lookUpSubject(port, found, reference);
  try {
    const server = await new ServerFinder({ config, builtIns, found, gate }).find(reference);
    return { ...server, gate };
  } finally {
    gate?.refuseDifferences();
  }
}
