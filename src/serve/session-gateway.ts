import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { type Questions, UnaskedError } from "../mcp/questions.ts";
import type {
  CallChannel,
  ListChange,
  ServedPrompt,
  ServedServer,
  ServedTool,
} from "../mcp/served-server.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { makeServedName } from "../qualified-names/advertised-names.ts";
import { searchToolName } from "../qualified-names/search-tool.ts";
import { toSignal } from "../runtime/abort-listeners.ts";
import { createGeneralError } from "../runtime/bundle.ts";
import type { InputAnswers, InputRequests, InputRequired, InputRound } from "../runtime/input-requests.ts";
import { listRequests } from "../runtime/input-rounds.ts";
import { createEntry, createEntryMeta } from "../runtime/mcp-shapes.ts";
import { makesSuggestions } from "../runtime/suggestions.ts";
import type { CallToolResult, ToolResult } from "../runtime/tool-result.ts";
import type { CallScope } from "../session/call.ts";
import type { ToolProgress } from "../session/call-listeners.ts";
import type { AskedRound } from "../session/host-input.ts";
import { createSearchTool, type LlmToolsOptions, ToolSearch } from "../session/search/tool-search.ts";
import { Session, type SessionParts } from "../session/session.ts";
import { SessionMemory } from "../session/session-memory.ts";
import type { PromptCandidate } from "../session/session-prompts.ts";
import type { SessionState } from "../session/session-state.ts";
import type { SessionTool, ToolCandidate } from "../session/session-tool.ts";
import { hostVersion } from "../version.ts";
import { GatewayResources } from "./gateway-resources.ts";

/** The scope of a client, without what each of its requests adds. */
export type ClientScope = Pick<CallScope, "sessionId" | "memory">;

/** How a session is served. */
export interface GatewayOptions {
  /** What it says about itself. */
  info: { name: string; version: string };
  /** Whether clients are listed the tools that are not for models, too. */
  allTools?: boolean | undefined;
  /** Whether it is a composed server: its lists do not change, and errors of bundles are errors of JSON-RPC. */
  isComposed?: boolean;
}

/** Which of a session's tools a client is listed. */
export interface ServedSearch {
  options: LlmToolsOptions;
  /** Whether what the client finds joins its list. */
  grows: boolean;
}

/**
 * The entry of a tool in `tools/list`: MCP's keys, the qualified name, and more keys of `_meta` that the host sets. Those of
 * servers are valid already.
 */
function describeForClients(
  definition: object,
  qualifiedName: string | null,
  name: string,
  { isValid, more = {} }: { isValid: boolean; more: object | undefined },
): Record<string, unknown> {
  const { title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } =
    definition as Record<string, unknown>;
  const listing = {
    name,
    title,
    description,
    annotations,
    icons,
    execution,
    // MCP requires `type` in both schemas.
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? inputSchema : {}) },
    outputSchema: isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? outputSchema : undefined,
    _meta: createEntryMeta(_meta, qualifiedName, more),
  };
  return isValid ? listing : createEntry("tools", listing);
}

/** A session's result as MCP's: the variant and the details of a failure are in `_meta.trailblaze`. */
function toCallResult(result: ToolResult): CallToolResult {
  const { variant, content, structuredContent, _meta, details } = result;
  if (variant === "Success") return carryIntegers(result, { content, structuredContent, _meta });
  // What a program wrote is for the operator.
  const { stderr: _, ...shown } = details ?? {};
  const isSaid = variant !== "ExceptionThrown" || Object.keys(shown).length > 0;
  const meta = isSaid ? { ..._meta, trailblaze: { ...shown, variant } } : _meta;
  return { content, structuredContent, isError: true, _meta: meta };
}

/** What a session's result asks; `undefined` for any other result. */
function findAsked({ variant, details }: ToolResult): InputRequired | undefined {
  if (variant !== "InputRequired") return undefined;
  const { inputRequests, ...state } = details ?? {};
  return { requests: inputRequests as InputRequests, ...state };
}

/** Passes a question on to the client of a request, which stays open or, of a modern client, ends with it. */
async function askClient(
  questions: Questions,
  { tool, requests, isWaiting }: AskedRound,
): Promise<InputAnswers> {
  if (isWaiting && !questions.canWait) {
    const reason =
      "Its server asks in the middle of a call, and this client answers only with a new request.";
    throw new UnaskedError(`The tool needs input. ${reason} ${listRequests(requests)}`);
  }
  const { input } = await questions.answer<InputRound>({ tool, requests }, async (round) =>
    round === undefined ? { inputRequired: { requests } } : round,
  );
  return input;
}

/** An open session as an MCP server: its tools and prompts, called in the scope of a client. */
export class SessionGateway {
  readonly #opening: Promise<Session>;
  readonly #report: (message: string) => void;
  readonly #options: GatewayOptions;
  readonly #listeners = new Set<(change: ListChange) => void>();
  readonly #resources: GatewayResources;
  readonly #reported = new Set<string>();
  #parts: SessionParts | undefined;

  /** `report` gets what clients are not told. */
  constructor(
    opening: Session | Promise<Session>,
    report: (message: string) => void,
    options: GatewayOptions = { info: { name: "trailblaze", version: hostVersion } },
  ) {
    this.#report = report;
    this.#options = options;
    this.#resources = new GatewayResources({
      parts: () => this.#parts,
      ownScope: () => ({ ...this.ownScope(), record: () => {}, log: () => {}, ask: undefined }),
      report,
    });
    if (opening instanceof Session) this.#parts = Session.partsOf(opening);
    this.#opening = Promise.resolve(opening).then((session) => {
      this.#parts = Session.partsOf(session);
      return session;
    });
    this.#opening.catch(() => {});
  }

  /** Tells every client that lists have changed. */
  announce(change: ListChange): void {
    if (change.resources) this.#resources.refresh();
    if (!change.tools && !change.prompts && !change.resources) return;
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

  /** The scope of one request. */
  #createScope(client: ClientScope, { log, questions }: CallChannel): CallScope {
    return {
      ...client,
      record: () => {},
      log: ({ level, data }) => log(level, client.memory.redact(data)),
      reportFault: this.#report,
      ask: (round) => askClient(questions, round),
      passesRounds: true,
    };
  }

  get #open(): SessionParts {
    if (this.#parts === undefined) throw new Error("The session is not open yet.");
    return this.#parts;
  }

  /**
   * What a client is served. `scopeOf` is called for each of its requests. With `search`, it is listed the search and what it
   * finds if there are many tools, and may call all of them.
   */
  serve(scopeOf: () => ClientScope, search?: ServedSearch): ServedServer {
    let state: SessionState | undefined;
    let tools: readonly ServedTool[] = [];
    let prompts: readonly ServedPrompt[] = [];
    const followers = new Set<(change: ListChange) => void>();
    const found =
      search &&
      new ToolSearch(
        () => this.#open.state(),
        (problem) => this.#reportOnce(problem),
        makeServedName,
      );
    const searched =
      found &&
      this.#serveSearch(found, () => {
        if (search?.grows !== true) return;
        const before = tools.length;
        state = undefined;
        read();
        // What it found may be listed in any case.
        if (tools.length === before) return;
        for (const follower of followers) follower({ tools: true, prompts: false });
      });
    const read = () => {
      const current = this.#parts?.state();
      if (current === undefined || current === state) return;
      state = current;
      const byTool = new Map(current.candidates.map((candidate) => [candidate.tool, candidate]));
      const shown =
        found?.list(search?.options ?? {}, { grows: search?.grows === true }) ?? this.#shownOf(current);
      const serveOne = (tool: SessionTool): ServedTool[] => {
        const candidate = byTool.get(tool);
        if (candidate !== undefined) return [this.#serveTool(current, candidate, scopeOf)];
        return searched === undefined ? [] : [searched];
      };
      tools = shown.flatMap(serveOne);
      prompts = current.prompts.map((candidate) => this.#servePrompt(current, candidate, scopeOf));
    };
    const instructions = () => this.#parts?.state().instructions;
    const served: ServedServer = {
      info: this.#options.info,
      get instructions() {
        return instructions();
      },
      get tools() {
        read();
        return tools;
      },
      get prompts() {
        read();
        return prompts;
      },
      resources: this.#resources.serve((channel) => this.#createScope(scopeOf(), channel)),
      complete: (request, signal) => this.#resources.complete(request, signal),
      report: this.#report,
      changing: {
        ready: () => this.#opening,
        onChange: (listener) => {
          this.#listeners.add(listener);
          followers.add(listener);
          return () => {
            this.#listeners.delete(listener);
            followers.delete(listener);
          };
        },
        findUnlisted: (name) =>
          name === searchToolName && searched !== undefined ? searched : this.#findUnlisted(name, scopeOf),
      },
    };
    return this.#options.isComposed ? this.#fix(served) : served;
  }

  /** A composed server offers what it has, and nothing that could have more. */
  #fix({ changing: _, resources, complete, ...served }: ServedServer): ServedServer {
    const state = this.#open.state();
    const items = state.packs.flatMap(({ inspected }) => inspected.items);
    const suggests = items.some((item) => item.declaration.kind !== "tool" && makesSuggestions(item));
    const changes = state.resources.some(({ route }) => route.by === "code" && route.resource.watch);
    return {
      ...served,
      resources: resources && { ...resources, subscribe: changes ? resources.subscribe : undefined },
      complete: suggests ? complete : undefined,
    };
  }

  #shownOf(state: SessionState): readonly SessionTool[] {
    return this.#options.allTools ? state.tools : state.toolsForLlm();
  }

  #serveSearch(search: ToolSearch, onFound: () => void): ServedTool {
    const { name, qualifiedName, title, description, inputSchema, outputSchema, annotations } =
      createSearchTool();
    return {
      name,
      qualifiedName,
      listing: { name, title, description, inputSchema, outputSchema, annotations },
      call: async ({ arguments: args }) => {
        const { result, isNew } = search.call(args);
        if (isNew) onFound();
        return { result: toCallResult(result) };
      },
    };
  }

  /** Many clients may have the same problem. */
  #reportOnce(problem: Problem): void {
    const { message } = problem;
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#open.report(problem);
  }

  /** A tool by its server's own name for it. */
  #findUnlisted(name: string, scopeOf: () => ClientScope): ServedTool | undefined {
    const state = this.#open.state();
    try {
      const candidate = state.resolve(name, undefined);
      const isShown = this.#shownOf(state).includes(candidate.tool);
      return isShown ? this.#serveTool(state, candidate, scopeOf) : undefined;
    } catch (error) {
      if (error instanceof TrailblazeError) return undefined;
      throw error;
    }
  }

  #serveTool(state: SessionState, candidate: ToolCandidate, scopeOf: () => ClientScope): ServedTool {
    const { tool, definition, route } = candidate;
    const { name, qualifiedName, _meta: more } = tool;
    const isValid = route.by === "server";
    const isEntry = route.by === "code" && route.entry !== undefined;
    const listing = describeForClients(definition, qualifiedName, name, { isValid, more });
    return {
      name,
      qualifiedName,
      listing,
      call: async ({ arguments: args, meta, session, input, state: given }, channel) => {
        const { signal, progress } = channel;
        const client = scopeOf();
        const { clientInfo, capabilities } = session;
        const { isComposed = false } = this.#options;
        let failed: Parameters<NonNullable<CallScope["onError"]>>[0] | undefined;
        const scope: CallScope = {
          ...this.#createScope(client, channel),
          onError: (outcome) => {
            if (isComposed) failed = outcome;
          },
          request: {
            meta,
            session: {
              id: session.id === null ? null : client.sessionId,
              clientInfo: isRecord(clientInfo) ? clientInfo : {},
              capabilities: isRecord(capabilities) ? capabilities : {},
            },
          },
        };
        const onProgress = (step: ToolProgress) => progress(step.progress, step.total, step.message);
        const round = input === undefined ? undefined : { input, state: given };
        const options = { signal, onProgress, round };
        const result = await this.#open.calls.callFromHost(state, candidate, args, options, scope);
        if (failed?.uncaught !== undefined) this.#report(`${name}: ${failed.uncaught.message}`);
        if (failed !== undefined) return { error: failed.error };
        if (isComposed && isEntry && result.variant === "FatalError") return { error: createGeneralError() };
        const inputRequired = findAsked(result);
        return inputRequired === undefined ? { result: toCallResult(result) } : { inputRequired };
      },
    };
  }

  #servePrompt(state: SessionState, candidate: PromptCandidate, scopeOf: () => ClientScope): ServedPrompt {
    const { prompt, listing } = candidate;
    const { name } = prompt;
    const { arguments: args = [], ...others } = listing;
    return {
      name,
      listing: { ...others, name, arguments: args.length > 0 ? args : undefined },
      required: args.filter(({ required }) => required).map((one) => one.name),
      get: (given, channel, round) => {
        const { progress } = channel;
        const scope = this.#createScope(scopeOf(), channel);
        const request = { signal: toSignal(channel.signal), progress, scope, round };
        return this.#open.requests.askPrompt(state, candidate, given, request);
      },
    };
  }
}
