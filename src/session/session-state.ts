import type { SessionConfig } from "../config/session-config.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { makeServedName } from "../qualified-names/advertised-names.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { formatSource } from "./register-tools.ts";
import { explainServerReference, indexByLabel } from "./server-of-reference.ts";
import type { ServerStates, SessionServerState } from "./server-states.ts";
import { type PromptCandidate, qualify, resolvePrompt } from "./session-prompts.ts";
import type { ResourceCandidate, ResourceServer } from "./session-reads.ts";
import {
  indexCandidates,
  ownNameOf,
  type SessionTool,
  type SessionToolset,
  type Skipped,
  type SkippedTool,
  type ToolCandidate,
} from "./session-tool.ts";

/** A pack of a state, and the owner of its code. */
export interface StatePack extends CheckedPack {
  owner: CodeOwner;
}

/** The parts of a state. */
export interface StateParts {
  config: SessionConfig;
  candidates: readonly ToolCandidate[];
  prompts: readonly PromptCandidate[];
  /** The prompts that are installed but not offered. */
  skippedPrompts: readonly Skipped[];
  resources: readonly ResourceCandidate[];
  /** The servers that have started; results may link to more than they list. */
  resourceServers: readonly ResourceServer[];
  toolsets: readonly SessionToolset[];
  /** Short names of toolsets; `undefined` shows every tool. */
  shownToolsets: readonly string[] | undefined;
  skipped: readonly Skipped[];
  problems: readonly Problem[];
  servers: ServerStates;
  /** What the only server says to models; `undefined` for a session of several. */
  instructions: string | undefined;
  registry: Registry;
  /** The selected packs. */
  packs: readonly StatePack[];
  /** The error for an npm package that is installed and is not a pack; `undefined` for other names. */
  explainPackage(name: string): TrailblazeError | undefined;
  /** Starts the servers that the session's calls did not need, once. `undefined` if all have started. */
  startOthers: (() => Promise<{ candidates: ToolCandidate[]; skipped: Skipped[] }>) | undefined;
}

/** What a session offers, taken from the project at one moment. A call uses one state from its start to its end. */
export class SessionState {
  readonly config: SessionConfig;
  readonly tools: readonly SessionTool[];
  readonly toolsets: readonly SessionToolset[];
  readonly skipped: readonly SkippedTool[];
  readonly prompts: readonly PromptCandidate[];
  readonly resources: readonly ResourceCandidate[];
  readonly resourceServers: readonly ResourceServer[];
  /** The problem of each excluded tool that calls of it fail with. */
  readonly #refusals = new Map<SkippedTool, Problem>();
  readonly problems: readonly Problem[];
  readonly packs: readonly StatePack[];
  readonly instructions: string | undefined;
  readonly #parts: StateParts;
  readonly #candidates: ToolCandidate[] = [];
  readonly #tools: SessionTool[] = [];
  readonly #skipped: SkippedTool[] = [];
  readonly #byName = new Map<string, ToolCandidate>();
  /** By `LABEL/TOOL`. */
  readonly #byLabel = new Map<string, ToolCandidate>();
  /** The tools that claim an advertised name, or a server's own name. */
  readonly #claims = new Map<string, ToolCandidate[]>();
  #others: Promise<void> | undefined;
  #calls = 0;
  #release: (() => void) | undefined;

  constructor(parts: StateParts) {
    this.#parts = parts;
    this.config = parts.config;
    this.tools = this.#tools;
    this.toolsets = parts.toolsets;
    this.#skip(parts.skipped);
    this.skipped = this.#skipped;
    this.problems = parts.problems;
    this.packs = parts.packs;
    this.instructions = parts.instructions;
    this.prompts = parts.prompts;
    this.resources = parts.resources;
    this.resourceServers = parts.resourceServers;
    this.#add(parts.candidates);
  }

  get servers(): SessionServerState[] {
    return this.#parts.servers.list(this.#candidates);
  }

  /** Starts a server. Rejects with `TrailblazeError`: `ServerNotFound`, `ServerStartFailed`, or why it is excluded. */
  startServer(label: string): Promise<void> {
    return this.#parts.servers.start(qualify(label, "server", this.#parts.registry));
  }

  get candidates(): readonly ToolCandidate[] {
    return this.#candidates;
  }

  /** Notes a call that uses this state. The returned function notes its end; call it once. */
  beginCall(): () => void {
    this.#calls += 1;
    return () => {
      this.#calls -= 1;
      if (this.#calls === 0) this.#release?.();
    };
  }

  /** Calls `release` when no call uses this state any more. No call may begin on it afterwards. */
  retire(release: () => void): void {
    if (this.#calls === 0) release();
    else this.#release = release;
  }

  #skip(skipped: readonly Skipped[]): void {
    for (const { problem, ...tool } of skipped) {
      this.#skipped.push(tool);
      if (problem !== undefined) this.#refusals.set(tool, problem);
    }
  }

  /** The error for a call of a tool that is excluded; `undefined` for one with an error by name. */
  #refusalOf(skipped: SkippedTool | undefined): TrailblazeError | undefined {
    const problem = skipped && this.#refusals.get(skipped);
    return problem && new TrailblazeError(problem);
  }

  /** Adds tools. Names that are taken stay with their tools. */
  #add(candidates: readonly ToolCandidate[]): void {
    this.#candidates.push(...candidates);
    this.#tools.push(...candidates.map(({ tool }) => tool));
    for (const [name, candidate] of indexCandidates(candidates)) {
      if (!this.#byName.has(name)) this.#byName.set(name, candidate);
    }
    for (const [name, candidate] of indexByLabel(candidates)) this.#byLabel.set(name, candidate);
    for (const candidate of candidates) {
      const { name } = candidate.tool;
      for (const claimed of new Set([name, makeServedName(name), ownNameOf(candidate) ?? name]))
        this.#claims.set(claimed, [...(this.#claims.get(claimed) ?? []), candidate]);
    }
  }

  /** The tools for a model: those of the selected toolsets, or all, without those that are not for models. */
  toolsForLlm(): SessionTool[] {
    const { shownToolsets } = this.#parts;
    const isShown = ({ toolsets }: SessionTool) =>
      shownToolsets === undefined || toolsets.some((name) => shownToolsets.includes(name));
    return this.tools.filter((tool) => tool.isForLlm && isShown(tool));
  }

  /**
   * The tool that a name refers to for the tool that calls it, or for the host. If the name is unknown, starts the servers
   * that have not started and may have it, and tries again. Rejects with `TrailblazeError` for an unknown name.
   */
  async resolveStarting(name: string, caller: ToolCandidate | undefined): Promise<ToolCandidate> {
    try {
      return this.resolve(name, caller);
    } catch (error) {
      if (this.#parts.startOthers === undefined || !(error instanceof TrailblazeError)) throw error;
      // The host names the servers that it needs. A slash in the name of a tool looks like that of LABEL/TOOL or a pack.
      const { code, args } = error.problem;
      const mayBeOwnName = code === "PackNotInstalled" || (code === "ServerNotFound" && "isLabel" in args);
      if (caller === undefined && !mayBeOwnName) throw error;
    }
    this.#others ??= this.#parts.startOthers().then(({ candidates, skipped }) => {
      this.#skip(skipped);
      this.#add(candidates);
    });
    await this.#others;
    return this.resolve(name, caller);
  }

  /** The prompt that a name refers to. Throws `TrailblazeError` `PromptNotFound`, `NameCollision` or `NotApproved`. */
  resolvePrompt(name: string): PromptCandidate {
    const { config, registry, prompts, skippedPrompts } = this.#parts;
    return resolvePrompt(name, { config, registry, prompts, skipped: skippedPrompts });
  }

  /** The tool of a server of the config, by `LABEL/TOOL`. Throws `AmbiguousName` if a pack has an item of this name. */
  #findByLabel(name: string, caller: ToolCandidate | undefined): ToolCandidate | undefined {
    const found = this.#byLabel.get(name);
    const server = found?.tool.source.server;
    if (found === undefined || server === undefined) return undefined;
    const items = this.#parts.registry.items("tool").filter(({ qualifiedName }) => qualifiedName === name);
    if (items.length === 0) return found;
    // Packs do not know the user's servers.
    if (caller?.tool.source.type === "pack") return undefined;
    throw failure("AmbiguousName", { name, kinds: ["tool"], server });
  }

  /**
   * The tool that a name refers to for the host, or for the tool that calls it. Throws `TrailblazeError`: `ToolNotFound`
   * with similar names, `ServerNotFound`, `AmbiguousName`, `NameCollision`, `ExtensionNotFound`.
   */
  resolve(name: string, caller: ToolCandidate | undefined): ToolCandidate {
    const ofServer = this.#findByLabel(name, caller);
    if (ofServer !== undefined) return ofServer;
    const direct = this.#byName.get(name);
    this.#refuseClaims(name, direct);
    if (direct !== undefined) return direct;
    const known = [...this.#byName.keys()];
    if (typeof name === "string") {
      const pack = packOf(caller);
      const own = pack === undefined || name.includes("/") ? undefined : `${pack}/${name}`;
      const isOwn = own !== undefined && (this.#byName.has(own) || this.#findSkipped(own) !== undefined);
      if (isOwn || name.includes("/")) {
        const qualifiedName = own ?? this.#qualify(name);
        const found = this.#byName.get(qualifiedName);
        if (found !== undefined) return found;
        // The tool is installed but excluded; the error says why.
        const skipped = this.#findSkipped(qualifiedName);
        const refusal = this.#refusalOf(skipped);
        if (refusal !== undefined) throw refusal;
        throw failure("ToolNotFound", {
          name,
          otherKind: undefined,
          nearest: [],
          ...(skipped === undefined ? {} : { reason: skipped.message }),
        });
      }
    }
    const skipped = this.skipped.find((tool) => tool.name === name);
    const refusal = this.#refusalOf(skipped);
    if (refusal !== undefined) throw refusal;
    const endingInIt = known.filter((one) => one.endsWith(`/${name}`));
    const nearest = endingInIt.length > 0 ? endingInIt : findNearestNames(String(name), known);
    throw failure("ToolNotFound", {
      name: String(name),
      otherKind: undefined,
      nearest,
      ...(skipped === undefined ? {} : { reason: skipped.message }),
    });
  }

  /** Throws `NameCollision` for a name of several tools, none of which has it alone. */
  #refuseClaims(name: string, direct: ToolCandidate | undefined): void {
    const claims = this.#claims.get(name) ?? [];
    const rivals =
      direct === undefined
        ? claims
        : claims.filter(({ tool }) => [tool.name, makeServedName(tool.name)].includes(name));
    if (rivals.length < 2) return;
    const sources = rivals.map(({ tool }) => formatSource(tool.source));
    throw failure("NameCollision", { collisions: [{ name, sources }], isCalled: true });
  }

  #findSkipped(qualifiedName: string): SkippedTool | undefined {
    return this.skipped.find(
      ({ source: { pack, item } }) =>
        pack !== undefined && qualifiedName === `${qualifyPackageName(pack)}/${item}`,
    );
  }

  /** The qualified name of the tool that a reference names. Throws `TrailblazeError`. */
  #qualify(reference: string): string {
    try {
      return this.#parts.registry.resolve(reference, { kind: "tool" }).qualifiedName;
    } catch (error) {
      const { config } = this.#parts;
      const refusalOf = (skipped: SkippedTool) => this.#refusalOf(skipped);
      const context = { config, candidates: this.#candidates, skipped: this.skipped, refusalOf };
      const mayBeLabel =
        error instanceof TrailblazeError && ["PackNotInstalled", "InvalidQualifiedName"].includes(error.code);
      const ofServer = mayBeLabel ? explainServerReference(reference, context) : undefined;
      if (ofServer !== undefined || !(error instanceof TrailblazeError)) throw ofServer ?? error;
      const { code, args } = error.problem;
      const isMissing = code === "PackNotInstalled" && "name" in args;
      throw (isMissing && this.#parts.explainPackage(String(args.name))) || error;
    }
  }
}

/** The qualified name of the pack whose code or server makes a nested call; it may use its own short names. */
function packOf(caller: ToolCandidate | undefined): string | undefined {
  if (caller?.route.by === "server") return caller.route.plan.pack;
  return caller?.route.entry === undefined ? caller?.route.code.owner.pack?.qualifiedName : undefined;
}
