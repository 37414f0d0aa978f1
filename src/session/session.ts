import type { SessionConfig } from "../config/session-config.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import type { ToolResult } from "../runtime/tool-result.ts";
import { explainServerReference, indexByLabel } from "./server-of-reference.ts";
import type { SessionMemory } from "./session-memory.ts";
import type { SessionResources } from "./session-resources.ts";
import {
  indexCandidates,
  type RecordedCall,
  type SessionTool,
  type SessionToolset,
  type SkippedTool,
  type ToolCandidate,
} from "./session-tool.ts";
import type { CallOptions, ToolCalls, ToolCallsOptions } from "./tool-calls.ts";

/** The parts of an open session. */
export interface SessionParts {
  id: string;
  /** Absolute path of the folder with the logs of its processes. */
  logDir: string;
  candidates: readonly ToolCandidate[];
  toolsets: readonly SessionToolset[];
  config: SessionConfig;
  /** Starts the servers that the session's calls did not need, once. `undefined` if all have started. */
  startOthers: (() => Promise<{ candidates: ToolCandidate[]; skipped: SkippedTool[] }>) | undefined;
  /** Short names of toolsets; `undefined` shows every tool. */
  shownToolsets: readonly string[] | undefined;
  skipped: readonly SkippedTool[];
  problems: Problem[];
  memory: SessionMemory;
  registry: Registry;
  recording: RecordedCall[];
  resources: SessionResources;
  createCalls(resolve: ToolCallsOptions["resolve"]): ToolCalls;
}

/** One run of a host: its tools, its memory and its processes, from `openSession` to `close`. */
export class Session implements AsyncDisposable {
  /** A UUID. */
  readonly id: string;
  readonly logDir: string;
  /** Every registered tool: built-ins, tools of the config's servers, tools of packs by name; each in declared order. */
  readonly tools: readonly SessionTool[];
  readonly toolsets: readonly SessionToolset[];
  /** Every tool that is installed but not registered, and why. */
  readonly skipped: readonly SkippedTool[];
  /** The problems at the start and since. */
  readonly problems: readonly Problem[];
  /** A `Map` of strings. */
  readonly memory: Map<string, string>;
  /** The successful calls so far that can be replayed. Sensitive values are redacted. */
  readonly recording: readonly RecordedCall[];
  readonly #parts: SessionParts;
  readonly #candidates: ToolCandidate[] = [];
  readonly #tools: SessionTool[] = [];
  readonly #skipped: SkippedTool[];
  readonly #byName = new Map<string, ToolCandidate>();
  /** By `LABEL/TOOL`. */
  readonly #byLabel = new Map<string, ToolCandidate>();
  readonly #calls: ToolCalls;
  #others: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.logDir = parts.logDir;
    this.tools = this.#tools;
    this.toolsets = parts.toolsets;
    this.#skipped = [...parts.skipped];
    this.skipped = this.#skipped;
    this.problems = parts.problems;
    this.memory = parts.memory;
    this.recording = parts.recording;
    this.#add(parts.candidates);
    this.#calls = parts.createCalls((name, caller) => this.#resolveForTool(name, caller));
  }

  /** Adds tools. Names that are taken stay with their tools. */
  #add(candidates: readonly ToolCandidate[]): void {
    this.#candidates.push(...candidates);
    this.#tools.push(...candidates.map(({ tool }) => tool));
    for (const [name, candidate] of indexCandidates(candidates)) {
      if (!this.#byName.has(name)) this.#byName.set(name, candidate);
    }
    for (const [name, candidate] of indexByLabel(candidates)) this.#byLabel.set(name, candidate);
  }

  /** Resolves a name that a tool calls. If it is unknown, starts the servers that have not started, and tries again. */
  async #resolveForTool(name: string, caller: ToolCandidate): Promise<ToolCandidate> {
    try {
      return this.#resolve(name, caller);
    } catch (error) {
      if (this.#parts.startOthers === undefined || !(error instanceof TrailblazeError)) throw error;
    }
    this.#others ??= this.#parts.startOthers().then(({ candidates, skipped }) => {
      this.#skipped.push(...skipped);
      this.#add(candidates);
    });
    await this.#others;
    return this.#resolve(name, caller);
  }

  /** The tools for a model: those of the selected toolsets, or all, without those that are not for models. */
  toolsForLlm(): SessionTool[] {
    const { shownToolsets } = this.#parts;
    const isShown = ({ toolsets }: SessionTool) =>
      shownToolsets === undefined || toolsets.some((name) => shownToolsets.includes(name));
    return this.tools.filter((tool) => tool.isForLlm && isShown(tool));
  }

  /**
   * Calls a tool by its advertised name, its qualified name, or `LABEL/TOOL` for a server of the config. Trust level:
   * execution.
   *
   * Resolves even if the tool fails: `variant` says how the call ended. Rejects with a `TrailblazeError` `ToolNotFound`,
   * `ServerNotFound`, `AmbiguousName` or `SessionClosed`, or with the reason of `signal`.
   */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<ToolResult> {
    this.#parts.resources.closing.throwIfAborted();
    return this.#calls.callFromHost(this.#resolve(name, undefined), args, options);
  }

  /**
   * The tool that `callTool` calls by this name. Throws `TrailblazeError`: `ToolNotFound` with similar names,
   * `ServerNotFound`, `AmbiguousName`.
   */
  findTool(name: string): SessionTool {
    return this.#resolve(name, undefined).tool;
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

  #resolve(name: string, caller: ToolCandidate | undefined): ToolCandidate {
    const ofServer = this.#findByLabel(name, caller);
    if (ofServer !== undefined) return ofServer;
    const direct = this.#byName.get(name);
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
        throw failure("ToolNotFound", {
          name,
          otherKind: undefined,
          nearest: [],
          ...(skipped === undefined ? {} : { reason: skipped.message }),
        });
      }
    }
    const skipped = this.skipped.find((tool) => tool.name === name);
    const endingInIt = known.filter((one) => one.endsWith(`/${name}`));
    const nearest = endingInIt.length > 0 ? endingInIt : findNearestNames(String(name), known);
    throw failure("ToolNotFound", {
      name: String(name),
      otherKind: undefined,
      nearest,
      ...(skipped === undefined ? {} : { reason: skipped.message }),
    });
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
      const context = { config, candidates: this.#candidates, skipped: this.skipped };
      const mayBeLabel =
        error instanceof TrailblazeError && ["PackNotInstalled", "InvalidQualifiedName"].includes(error.code);
      throw (mayBeLabel && explainServerReference(reference, context)) || error;
    }
  }

  /** Ends the session: stops its processes, and rejects its open calls. Idempotent. */
  close(): Promise<void> {
    return this.#parts.resources.close();
  }

  /** The same as `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The qualified name of the pack whose code or server makes a nested call; it may use its own short names. */
function packOf(caller: ToolCandidate | undefined): string | undefined {
  if (caller?.route.by === "server") return caller.route.server.plan.pack;
  return caller?.route.entry === undefined ? caller?.route.code.owner.pack?.qualifiedName : undefined;
}
