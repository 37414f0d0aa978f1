import type { SessionConfig } from "../config/session-config.ts";
import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import type { Era } from "../mcp/client/json-rpc.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { unknownName } from "../qualified-names/nearest-names.ts";
import { isAppUri, isOutside, renameUris, toOutside, toOwn } from "../runtime/apps.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import {
  describeUnusable,
  type ItemOf,
  isOf,
  isReported,
  labelOf,
  type ResourceRoute,
  type Route,
  type SessionItem,
  type SessionTool,
  type SessionToolset,
  type SkillItem,
  type Skipped,
  type SkippedTool,
  type SkipReason,
  type ToolItem,
} from "./items.ts";
import type { Names } from "./names.ts";
import { type ProjectReading, sourcesOf } from "./read-project.ts";
import { ServerSource } from "./server-source.ts";
import type { SessionServer } from "./session-servers.ts";

/** Who made a link in a result: the label of a server, or the npm name of a pack. */
export interface LinkMaker {
  server?: string;
  pack?: string | undefined;
}

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

interface StateParts {
  reading: ProjectReading;
  items: readonly SessionItem[];
  names: { tool: Names<ToolItem>; prompt: Names<ItemOf<"prompt">>; skill: Names<SkillItem> };
  skipped: readonly Skipped[];
  toolsets: readonly SessionToolset[];
  /** Short names of toolsets; `undefined` shows every tool. */
  shownToolsets: readonly string[] | undefined;
  problems: readonly Problem[];
  /** What the only server says to models; `undefined` for a session of several. */
  instructions: string | undefined;
}

/** What a session offers, taken from the project at one moment: it never changes, and is replaced as a whole. */
export class SessionState {
  readonly parts: StateParts;
  readonly config: SessionConfig;
  /** What the names of items refer to. They throw `TrailblazeError`s for unknown names. */
  readonly names: StateParts["names"];
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
    this.names = parts.names;
    this.tools = this.of("tool").map(({ shown }) => shown);
  }

  of<Kind extends SessionItem["kind"]>(kind: Kind): readonly ItemOf<Kind>[] {
    return this.parts.items.filter(isOf(kind));
  }

  get servers(): SessionServerState[] {
    return this.#servers.map(({ label, source, server, excluded }) => {
      const { era = null, protocolVersion = null, serverInfo = null } = server?.said ?? {};
      const needsSignIn = server?.fault?.code === "AuthorizationRequired";
      const failed = needsSignIn ? "AuthorizationRequired" : "ServerFailed";
      const life = server?.life.is ?? "idle";
      const reason = server?.exit || life === "failed" ? failed : excluded?.reason;
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

  isShown = ({ toolsets }: SessionTool): boolean => {
    const { shownToolsets } = this.parts;
    return shownToolsets === undefined || toolsets.some((name) => shownToolsets.includes(name));
  };

  toolsForLlm(): SessionTool[] {
    return this.tools.filter((tool) => tool.isForLlm && this.isShown(tool));
  }

  /** The tool that a name refers to for the host, or for code of a pack. Throws as `Names.resolve`. */
  resolve(name: string, pack?: string): ToolItem {
    return this.names.tool.resolve(String(name), pack);
  }

  /** An answer with URIs of apps as they are outside. Code may pass on what it got of other sources, whose URIs stay. */
  outside<Answer>(answer: Answer, route: Route<unknown>): Answer {
    const others = route.by === "code" ? this.#labels() : [];
    const own = labelOf(route);
    const isOwn = (uri: string) =>
      this.#findRoutes({}, (label) => (label === own ? uri : undefined)).length > 0;
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
  findResource(uri: string, maker: LinkMaker = {}): ResourceRoute | undefined {
    const from = this.resourceServers.find(({ plan }) => plan.label === maker.server);
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
  #findRoutes(maker: LinkMaker, ownOf: (label: string | undefined) => string | undefined): ResourceRoute[] {
    const ranked = this.of("resource").flatMap(({ shown, route }) => {
      const id = ownOf(labelOf(route));
      if (id === undefined) return [];
      const isListed = shown.uri !== undefined && route.id === id;
      const fits = () =>
        route.by === "code"
          ? route.code.match(id) !== undefined
          : fitsServerTemplate(route.id, id) && route.from.findLeft("resource", id) === undefined;
      if (!isListed && (shown.uriTemplate === undefined || !fits())) return [];
      const isMakers = route.by === "code" && maker.pack !== undefined && shown.source.pack === maker.pack;
      return [{ route: { ...route, id }, rank: (isMakers ? 0 : 2) + (isListed ? 0 : 1) }];
    });
    const named = this.resourceServers.flatMap((from): ResourceRoute[] => {
      const id = ownOf(from.plan.label);
      return id !== undefined && from.names(id) ? [{ by: "server", from, id }] : [];
    });
    return [...ranked.sort((a, b) => a.rank - b.rank).map(({ route }) => route), ...named];
  }
}
