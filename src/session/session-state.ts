import type { SessionConfig } from "../config/session-config.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import type { CodeOwner } from "../runtime/tool-code.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { type NameContext, Names } from "./names.ts";
import type { ServerSource } from "./server-source.ts";
import { describeEntries, findEntry, type ServerEntry, type SessionServerState } from "./server-states.ts";
import type { PromptCandidate } from "./session-prompts.ts";
import type { ResourceCandidate } from "./session-reads.ts";
import type { SessionTool, SessionToolset, Skipped, SkippedTool, ToolCandidate } from "./session-tool.ts";

/** A pack of a state, and the owner of its code. */
export interface StatePack extends CheckedPack {
  owner: CodeOwner;
}

/** The parts of a state. */
export interface StateParts extends NameContext {
  candidates: readonly ToolCandidate[];
  prompts: readonly PromptCandidate[];
  /** The prompts that are installed but not offered. */
  skippedPrompts: readonly Skipped[];
  resources: readonly ResourceCandidate[];
  /** The servers that have started; results may link to more than they list. */
  resourceServers: readonly ServerSource[];
  toolsets: readonly SessionToolset[];
  /** Short names of toolsets; `undefined` shows every tool. */
  shownToolsets: readonly string[] | undefined;
  problems: readonly Problem[];
  servers: readonly ServerEntry[];
  /** What the only server says to models; `undefined` for a session of several. */
  instructions: string | undefined;
  /** The selected packs. */
  packs: readonly StatePack[];
  /** Starts the servers that the session's calls did not need; resolves with the state that has them. `undefined` if all have started. */
  startOthers: (() => Promise<SessionState>) | undefined;
}

/** What a session offers, taken from the project at one moment: it never changes, and is replaced as a whole. */
export class SessionState {
  readonly config: SessionConfig;
  readonly tools: readonly SessionTool[];
  readonly candidates: readonly ToolCandidate[];
  readonly toolsets: readonly SessionToolset[];
  readonly skipped: readonly SkippedTool[];
  readonly prompts: readonly PromptCandidate[];
  readonly resources: readonly ResourceCandidate[];
  readonly resourceServers: readonly ServerSource[];
  readonly problems: readonly Problem[];
  readonly packs: readonly StatePack[];
  readonly instructions: string | undefined;
  readonly #parts: StateParts;
  readonly #toolNames: Names<ToolCandidate>;
  readonly #promptNames: Names<PromptCandidate>;
  #calls = 0;
  #release: (() => void) | undefined;

  constructor(parts: StateParts) {
    this.#parts = parts;
    this.config = parts.config;
    this.candidates = parts.candidates;
    this.tools = parts.candidates.map(({ tool }) => tool);
    this.toolsets = parts.toolsets;
    this.skipped = parts.skipped.map(({ problem: _, ...tool }) => tool);
    this.problems = parts.problems;
    this.packs = parts.packs;
    this.instructions = parts.instructions;
    this.prompts = parts.prompts;
    this.resources = parts.resources;
    this.resourceServers = parts.resourceServers;
    this.#toolNames = new Names("tool", parts.candidates, parts);
    this.#promptNames = new Names("prompt", parts.prompts, { ...parts, skipped: parts.skippedPrompts });
  }

  get servers(): SessionServerState[] {
    return describeEntries(this.#parts.servers, this.candidates);
  }

  /** A server of the state. Throws `TrailblazeError`: `ServerNotFound`, or why it is excluded. */
  findServer(label: string): ServerEntry {
    return findEntry(this.#parts.servers, this.#qualifyServer(label));
  }

  #qualifyServer(label: string): string {
    if (!label.includes("/")) return label;
    try {
      return this.#parts.registry.resolve(label, { kind: "server" }).qualifiedName;
    } catch (error) {
      if (error instanceof TrailblazeError) return label;
      throw error;
    }
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

  /** The tools for a model: those of the selected toolsets, or all, without those that are not for models. */
  toolsForLlm(): SessionTool[] {
    const { shownToolsets } = this.#parts;
    const isShown = ({ toolsets }: SessionTool) =>
      shownToolsets === undefined || toolsets.some((name) => shownToolsets.includes(name));
    return this.tools.filter((tool) => tool.isForLlm && isShown(tool));
  }

  /** The tool that a name refers to for the host, or for code of a pack. Throws as `Names.resolve`. */
  resolve(name: string, pack?: string): ToolCandidate {
    return this.#toolNames.resolve(String(name), pack);
  }

  /**
   * The same; `caller` makes a nested call. If the name is unknown, starts the servers that have not started and may have it, and
   * tries again. Rejects with `TrailblazeError` for an unknown name.
   */
  async resolveStarting(name: string, caller?: { pack: string | undefined }): Promise<ToolCandidate> {
    const { startOthers } = this.#parts;
    try {
      return this.resolve(name, caller?.pack);
    } catch (error) {
      if (startOthers === undefined || !(error instanceof TrailblazeError)) throw error;
      // The host names the servers that it needs. A slash in the name of a tool looks like that of LABEL/TOOL or a pack.
      const { code, args } = error.problem;
      const mayBeOwnName = code === "PackNotInstalled" || (code === "ServerNotFound" && "isLabel" in args);
      if (caller === undefined && !mayBeOwnName) throw error;
    }
    return (await startOthers()).resolve(name, caller?.pack);
  }

  /** The prompt that a name refers to. Throws `TrailblazeError` `PromptNotFound`, `NameCollision` or `NotApproved`. */
  resolvePrompt(name: string): PromptCandidate {
    return this.#promptNames.resolve(name);
  }
}
