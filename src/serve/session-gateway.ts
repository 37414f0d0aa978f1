import { isRecord } from "../data/parse-json.ts";
import type {
  CallChannel,
  ListChange,
  ServedPrompt,
  ServedServer,
  ServedTool,
} from "../mcp/served-server.ts";
import { TrailblazeError } from "../problems/index.ts";
import { prefixNames } from "../qualified-names/advertised-names.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import { type CallToolResult, failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { Session, type SessionParts } from "../session/session.ts";
import { SessionMemory } from "../session/session-memory.ts";
import type { SessionState } from "../session/session-state.ts";
import type { ToolCandidate } from "../session/session-tool.ts";
import type { CallScope, ToolProgress } from "../session/tool-calls.ts";
import { hostVersion } from "../version.ts";
import { describeForClients } from "./member-code.ts";
import { advertisedPrompt, servePrompt } from "./serve-prompt.ts";

/** The scope of a client, without what each of its requests adds. */
export type ClientScope = Pick<CallScope, "sessionId" | "memory">;

/** A session's result as MCP's: the variant and the details of a failure are in `_meta.trailblaze`. */
function toCallResult({ variant, content, structuredContent, details }: ToolResult): CallToolResult {
  const result: CallToolResult = {
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
  if (variant === "Success") return result;
  const meta = { ...details, variant };
  const isSaid = variant !== "ExceptionThrown" || details !== undefined;
  return { ...result, isError: true, ...(isSaid ? { _meta: { trailblaze: meta } } : {}) };
}

/** An open session as an MCP server: its tools and prompts, called in the scope of a client. */
export class SessionGateway {
  readonly #opening: Promise<Session>;
  readonly #report: (message: string) => void;
  readonly #listeners = new Set<(change: ListChange) => void>();
  #parts: SessionParts | undefined;

  /** `report` gets what clients are not told. */
  constructor(opening: Promise<Session>, report: (message: string) => void) {
    this.#report = report;
    this.#opening = opening.then((session) => {
      this.#parts = Session.partsOf(session);
      return session;
    });
    this.#opening.catch(() => {});
  }

  /** Tells every client that lists have changed. */
  announce(change: ListChange): void {
    if (!change.tools && !change.prompts) return;
    for (const listener of this.#listeners) listener(change);
  }

  /** The scope of the session itself, for its only client. Its calls are not recorded, because it has no end. */
  ownScope(): ClientScope {
    const { id: sessionId, memory } = this.#open;
    return { sessionId, memory };
  }

  /** A scope of its own: it starts with the configured memory, and shares the processes. */
  createScope(sessionId: string): ClientScope {
    const { config } = this.#open.state();
    const memory = new SessionMemory(config.memory, config.sensitiveMemory, this.#open.memory);
    return { sessionId, memory };
  }

  get #open(): SessionParts {
    if (this.#parts === undefined) throw new Error("The session is not open yet.");
    return this.#parts;
  }

  /** What a client is served. `scopeOf` is called for each of its requests. */
  serve(scopeOf: () => ClientScope): ServedServer {
    let state: SessionState | undefined;
    let tools: readonly ServedTool[] = [];
    let prompts: readonly ServedPrompt[] = [];
    const read = () => {
      const current = this.#parts?.state();
      if (current === undefined || current === state) return;
      state = current;
      const shown = new Set(current.toolsForLlm());
      tools = current.candidates
        .filter(({ tool }) => shown.has(tool))
        .map((candidate) => this.#serveTool(current, candidate, scopeOf));
      prompts = this.#servePrompts(current, scopeOf);
    };
    return {
      info: { name: "trailblaze", version: hostVersion },
      instructions: undefined,
      get tools() {
        read();
        return tools;
      },
      get prompts() {
        read();
        return prompts;
      },
      report: this.#report,
      changing: {
        ready: () => this.#opening,
        onChange: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
        findUnlisted: (name) => this.#findUnlisted(name, scopeOf),
      },
    };
  }

  /** A tool by another of its names: one that it had before a change, or its server's own. */
  #findUnlisted(name: string, scopeOf: () => ClientScope): ServedTool | undefined {
    const state = this.#open.state();
    try {
      const candidate = state.resolve(name, undefined);
      const isShown = state.toolsForLlm().includes(candidate.tool);
      return isShown ? this.#serveTool(state, candidate, scopeOf) : undefined;
    } catch (error) {
      if (error instanceof TrailblazeError) return undefined;
      throw error;
    }
  }

  #serveTool(state: SessionState, candidate: ToolCandidate, scopeOf: () => ClientScope): ServedTool {
    const { tool, definition } = candidate;
    const { name, qualifiedName } = tool;
    const listing = describeForClients(definition, qualifiedName, name, tool._meta);
    return {
      name,
      qualifiedName,
      listing,
      call: async ({ arguments: args, meta, session }, { signal, log, progress }) => {
        const client = scopeOf();
        const { memory, sessionId } = client;
        const { clientInfo, capabilities } = session;
        const scope: CallScope = {
          ...client,
          request: {
            meta,
            session: {
              id: session.id === null ? null : sessionId,
              clientInfo: isRecord(clientInfo) ? clientInfo : {},
              capabilities: isRecord(capabilities) ? capabilities : {},
            },
          },
          record: () => {},
          log: ({ level, data }) => log(level, memory.redact(data)),
        };
        const onProgress = (step: ToolProgress) => progress(step.progress, step.total, step.message);
        const { calls } = this.#open;
        const result = await calls.callFromHost(state, candidate, args, { signal, onProgress }, scope);
        return { result: toCallResult(result) };
      },
    };
  }

  #servePrompts(state: SessionState, scopeOf: () => ClientScope): ServedPrompt[] {
    const items = state.packs.flatMap(({ inspected, unusable, owner }) =>
      inspected.items
        .filter((item) => item.declaration.kind === "prompt" && !unusable.has(item))
        .map((item) => ({ item, owner })),
    );
    const names = prefixNames(
      items.map(({ item, owner }) => {
        const { qualifiedName = "" } = owner.pack ?? {};
        return {
          name: advertisedPrompt(item),
          prefix: qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1),
          isBuiltIn: false,
          identity: item.qualifiedName,
        };
      }),
    );
    return items.map(({ item, owner }, index) => {
      const name = names[index] ?? advertisedPrompt(item);
      const runnerOf = () => this.#open.runners.get(owner);
      const prompt = servePrompt(item, name, owner, runnerOf, (channel) =>
        this.#createPromptContext(state, owner, scopeOf(), channel),
      );
      return {
        ...prompt,
        async get(args, channel) {
          // Its handler may call tools of this state.
          const end = state.beginCall();
          try {
            return await prompt.get(args, channel);
          } finally {
            end();
          }
        },
      };
    });
  }

  #createPromptContext(
    state: SessionState,
    { pack }: CodeOwner,
    client: ClientScope,
    { signal, log, progress }: CallChannel,
  ): HandlerContext {
    const { memory } = client;
    const scope: CallScope = {
      ...client,
      record: () => {},
      log: ({ level, data }) => log(level, memory.redact(data)),
    };
    const find = (name: string): ToolCandidate => {
      const own = `${pack?.qualifiedName}/${name}`;
      const isOwn = state.tools.some(({ qualifiedName }) => qualifiedName === own);
      return state.resolve(isOwn ? own : name, undefined);
    };
    return {
      signal,
      progress,
      options: {},
      log: (level, data) => log(level, memory.redact(data)),
      callTool: async (name, args = {}) => {
        try {
          const { calls } = this.#open;
          const called = find(name);
          const refusal = await calls.reach.explainRefusalFor(state, pack?.qualifiedName, called);
          if (refusal !== undefined) return { ...failedResult(refusal), isError: true };
          const result = await calls.callFromHost(state, called, args, { signal }, scope);
          return { ...result, isError: result.variant !== "Success" };
        } catch (error) {
          if (!(error instanceof TrailblazeError)) throw error;
          return { ...failedResult(error.message), isError: true };
        }
      },
    };
  }
}
