import { randomUUID } from "node:crypto";
import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import type { ServerCompletion, Suggestions } from "../mcp/client/server-calls.ts";
import type { ListKey } from "../mcp/client/server-lists.ts";
import { RpcError } from "../mcp/client-message.ts";
import { type Questions, UnaskedError } from "../mcp/questions.ts";
import type { Listing, ServedRequest } from "../mcp/served-server.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { makeServedName } from "../qualified-names/advertised-names.ts";
import { searchToolName } from "../qualified-names/search-tool.ts";
import { isForAppsAlone } from "../runtime/apps.ts";
import { createGeneralError } from "../runtime/bundle.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import type { InputAnswers, InputRound } from "../runtime/handler-context.ts";
import { listRequests } from "../runtime/input-rounds.ts";
import { createEntry, createEntryMeta } from "../runtime/mcp-shapes.ts";
import { makesSuggestions, type ReadAnswer } from "../runtime/pack-resource.ts";
import type { CallToolResult, PromptResult, ToolResult } from "../runtime/tool-result.ts";
import type { CallRequest, CallScope, Round } from "../session/calls.ts";
import type { AskedRound } from "../session/host-functions.ts";
import type { ItemOf, SessionTool, ToolItem } from "../session/items.ts";
import { ownUriOf } from "../session/items.ts";
import { attempt } from "../session/names.ts";
import { Session, type SessionParts } from "../session/session.ts";
import { SessionMemory } from "../session/session-memory.ts";
import { findSkillFile } from "../session/session-skills.ts";
import type { SessionState } from "../session/session-state.ts";
import type { SessionChange } from "../session/session-states.ts";
import { createSearchTool, type LlmToolsOptions, ToolSearch } from "../session/tool-search.ts";
import { hasFile } from "../skills/skill-entry.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import { hostVersion } from "../version.ts";
import { ResourceWatches } from "./resource-watches.ts";
import { describeSkillTool, skillToolName } from "./skill-tool.ts";

type Ask<Answer> = (request: ServedRequest, round: InputRound | undefined) => Promise<Round<Answer>>;
type CallTool = (
  args: Record<string, unknown>,
  ...use: Parameters<Ask<CallToolResult>>
) => ReturnType<Ask<CallToolResult>>;

/** Which lists of a session have changed. */
type ListChange = Omit<SessionChange, "problems">;

/** What one client is served, or all that share a scope. */
export type ServedServer = ReturnType<SessionGateway["serve"]>;

/** What clients are served: a legacy client's connection may have state of its own. */
export type ServedClients = ReturnType<SessionGateway["serveClients"]>;

/** The scope of a client, without what each of its requests adds. */
export type ClientScope = Pick<CallScope, "sessionId" | "memory" | "reader">;

/** How a session is served. */
export interface GatewayOptions {
  /** What it says about itself. */
  info: { name: string; version: string };
  /** Whether clients are listed the tools that are not for models, too. */
  allTools?: boolean | undefined;
  /** Whether it is a composed server: its lists do not change, and errors of bundles are errors of JSON-RPC. */
  isComposed?: boolean;
  /** Whether a tool loads skills, where there are any. */
  skillTool?: boolean | undefined;
}

/** What clients are listed of a state. */
interface Listed {
  state: SessionState;
  /** Of the tools that they are served. */
  ofTools: ReadonlyMap<SessionTool, Listing>;
  /** The tools that are for the code of apps alone. */
  ofApps: readonly Listing[];
  /** The one that loads skills; `undefined` where it is not offered. */
  skillTool: Listing | undefined;
  lists: Readonly<Record<ListKey, readonly Listing[]>>;
}

/** Which of a session's tools a client is listed. */
export interface ServedSearch {
  options: LlmToolsOptions;
  /** Whether what the client finds joins its list. */
  grows: boolean;
}

/** The entry of a tool in `tools/list`: MCP's keys, the qualified name, and more keys of `_meta` that the host sets. */
function describeTool({ shown, listing: definition, route }: ToolItem): Listing {
  const { title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } =
    definition as Record<string, unknown>;
  const listing = {
    name: makeServedName(shown.name),
    title,
    description,
    annotations,
    icons,
    execution,
    // MCP requires `type` in both schemas.
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? inputSchema : {}) },
    outputSchema: isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? outputSchema : undefined,
    _meta: createEntryMeta(_meta, shown.qualifiedName, shown._meta),
  };
  // Those of servers are valid already.
  return route.by === "server" ? listing : createEntry("tools", listing);
}

function describePrompt({ shown, listing }: ItemOf<"prompt">): Listing {
  const { arguments: args = [], ...others } = listing;
  return { ...others, name: makeServedName(shown.name), arguments: args.length > 0 ? args : undefined };
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

/** The search as clients are listed it. */
function describeSearch(): Listing {
  const { name, title, description, inputSchema, annotations } = createSearchTool();
  return { name, title, description, inputSchema, annotations };
}

/** Passes a question on to the client of a request, which stays open or, of a modern client, ends with it. */
async function askClient(
  questions: Questions,
  { tool, requests, isWaiting, isApproval }: AskedRound,
): Promise<InputAnswers> {
  if (isApproval && (questions.lacks(requests) || (isWaiting && !questions.canWait)))
    throw new UnaskedError("The client cannot be asked.");
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
  readonly #watches: ResourceWatches;
  #listed: Listed | undefined;
  #parts: SessionParts | undefined;

  /** `report` gets what clients are not told. */
  constructor(
    opening: Promise<Session>,
    report: (message: string) => void,
    options: GatewayOptions = { info: { name: "trailblaze", version: hostVersion } },
  ) {
    this.#report = report;
    this.#options = options;
    this.#watches = new ResourceWatches(
      () => this.#parts,
      () => this.#sessionScope(),
      report,
    );
    this.#opening = opening.then((session) => {
      this.#parts = Session.partsOf(session);
      this.#watches.refresh();
      return session;
    });
    this.#opening.catch(() => {});
  }

  /** Tells every client that lists have changed. */
  announce(change: ListChange): void {
    if (change.resources) this.#watches.refresh();
    if (!change.tools && !change.prompts && !change.resources) return;
    for (const listener of this.#listeners) listener(change);
  }

  /** The scope of the session itself, for its only client. Its calls are not recorded, because it has no end. */
  ownScope(): ClientScope {
    const { id: sessionId, memory } = this.#open.frame;
    return { sessionId, memory };
  }

  /** A scope of its own: it starts with the configured memory, and shares the processes. */
  createScope(sessionId: string, reader = sessionId): ClientScope {
    const { config } = this.#open.frame.state();
    const memory = new SessionMemory(config.memory, config.sensitiveMemory, this.#open.frame.memory);
    return { sessionId, memory, reader };
  }

  /** One request of a client. */
  #ask(
    state: SessionState,
    client: ClientScope,
    { log, questions, meta, session, signal, progress }: ServedRequest,
    round: InputRound | undefined,
  ): CallRequest {
    const { id, clientInfo, capabilities } = session;
    const scope: CallScope = {
      ...client,
      record: () => {},
      log: ({ level, data }) => log(level, client.memory.redact(data)),
      reportFault: this.#report,
      ask: (asked) => askClient(questions, asked),
      passesRounds: true,
      request: {
        meta,
        session: {
          id: id === null ? null : client.sessionId,
          clientInfo: isRecord(clientInfo) ? clientInfo : {},
          capabilities: isRecord(capabilities) ? capabilities : {},
        },
      },
    };
    const onProgress: CallRequest["onProgress"] = (step) => progress(step.progress, step.total, step.message);
    return { state, scope, signal, round, onProgress };
  }

  get #open(): SessionParts {
    if (this.#parts === undefined) throw new Error("The session is not open yet.");
    return this.#parts;
  }

  #listedNow(): Listed | undefined {
    const state = this.#parts?.frame.state();
    if (state === undefined || state === this.#listed?.state) return this.#listed;
    const offered = new Set(this.#options.allTools ? state.tools : state.toolsForLlm());
    const served = state.of("tool").filter(({ shown }) => offered.has(shown));
    const forApps = state
      .of("tool")
      .filter(({ shown }) => !offered.has(shown) && isForAppsAlone(shown._meta) && state.isShown(shown));
    const ofModels = new Map(served.map((tool) => [tool.shown, describeTool(tool)]));
    const ofApps = new Map(forApps.map((tool) => [tool.shown, describeTool(tool)]));
    const skills = state.of("skill");
    // A tool of the session keeps its name.
    const isTaken = served.some((tool) => tool.shown.name === skillToolName);
    const hasSkillTool = this.#options.skillTool === true && skills.length > 0 && !isTaken;
    const skillTool = hasSkillTool ? describeSkillTool(skills) : undefined;
    const ofResources = (key: "uri" | "uriTemplate") => {
      const entries = state.of("resource").flatMap(({ shown, listing }) => {
        const uri = shown[key];
        return uri === undefined ? [] : [[uri, listing] as const];
      });
      // Of several with one URI, the first is read.
      return [...new Map(entries.toReversed()).values()].reverse();
    };
    const lists = {
      tools: [...ofModels.values()],
      prompts: state.of("prompt").map(describePrompt),
      resources: ofResources("uri"),
      resourceTemplates: ofResources("uriTemplate"),
      skills: skills.map(({ listing }) => ({ ...listing })),
    };
    const ofTools = new Map([...ofModels, ...ofApps]);
    this.#listed = { state, ofTools, ofApps: [...ofApps.values()], skillTool, lists };
    return this.#listed;
  }

  /**
   * What a client is served. `scopeOf` is called for each of its requests. With `search`, it is listed the search and what it
   * finds if there are many tools, and may call all of them.
   */
  serve(scopeOf: () => ClientScope, search?: ServedSearch) {
    const followers = new Set<(change: ListChange) => void>();
    const { info, isComposed = false } = this.#options;
    const instructions = () => this.#parts?.frame.state().instructions;
    // A composed server offers what it has, and nothing that could have more.
    const fixed = isComposed ? this.#open.frame.state() : undefined;
    const items = fixed?.packs.flatMap(({ inspected }) => inspected.items);
    const reportOnce = (problem: Problem) => this.#open.frame.reportOnce(problem);
    const searched = search && new ToolSearch(() => this.#open.frame.state(), reportOnce, makeServedName);
    const list = (key: ListKey, showsApps = false): readonly Listing[] => {
      const now = this.#listedNow();
      if (key !== "tools" || now === undefined) return now?.lists[key] ?? [];
      const { lists, ofTools, ofApps, skillTool } = now;
      const { options = {}, grows = false } = search ?? {};
      const found = searched?.list(options, { grows }).map((tool) => ofTools.get(tool) ?? describeSearch());
      return [...(found ?? lists.tools), ...(showsApps ? ofApps : []), ...(skillTool ? [skillTool] : [])];
    };
    const callSearch: CallTool | undefined =
      searched &&
      (async (args) => {
        const before = list("tools").length;
        const result = searched.call(args);
        // What it found may be listed in any case.
        if (list("tools").length !== before)
          for (const follower of followers) follower({ tools: true, prompts: false });
        return toCallResult(result);
      });
    return {
      info,
      get instructions() {
        return instructions();
      },
      /** The entries of a list. `showsApps`: of tools also those that are for the code of apps alone, which a client hides from models. */
      list,
      /** What calls a tool by this name, listed or not. */
      findTool: (name: string): CallTool | undefined => {
        if (name === searchToolName && callSearch !== undefined) return callSearch;
        const state = this.#open.frame.state();
        if (name === skillToolName && this.#listedNow()?.skillTool !== undefined)
          return (args, request, round) => this.#loadSkill(args, this.#ask(state, scopeOf(), request, round));
        const tool = attempt(() => state.resolve(name));
        if (tool === undefined || this.#listedNow()?.ofTools.has(tool.shown) !== true) return undefined;
        return (args, request, round) => this.#callTool(state, tool, args, request, round, scopeOf());
      },
      findPrompt: (name: string) => {
        const state = this.#open.frame.state();
        const prompt = attempt(() => state.resolvePrompt(name));
        if (prompt === undefined) return undefined;
        const { arguments: args = [] } = prompt.listing;
        return {
          required: args.filter(({ required }) => required).map((one) => one.name),
          get: (given: Record<string, string>, ...[request, round]: Parameters<Ask<PromptResult>>) =>
            this.#open.calls.askPrompt(prompt, given, this.#ask(state, scopeOf(), request, round)),
        };
      },
      /** The reader of a URI: of a listed resource, of a template, or of a link in a result. */
      findResource: (uri: string): Ask<ReadAnswer> | undefined => {
        if (this.#parts === undefined) return undefined;
        const { sessionId, reader = sessionId } = scopeOf();
        const kept = this.#open.calls.large.find(uri, reader);
        if (kept !== undefined) return async () => kept();
        const state = this.#open.frame.state();
        const skills = state.of("skill").filter(({ listing }) => hasFile(listing, uri));
        // One that says which files it has goes before one that may have any.
        const skill = skills.find(({ listing }) => listing.resources !== "dynamic") ?? skills[0];
        if (skill !== undefined)
          return (request, round) =>
            this.#open.calls.askSkill(skill, uri, this.#ask(state, scopeOf(), request, round));
        const route = this.#open.calls.findResource(state, uri);
        if (route === undefined) return undefined;
        return (request, round) =>
          this.#open.calls.askResource(uri, route, this.#ask(state, scopeOf(), request, round));
      },
      /** Calls `changed` after each change of a URI, until the returned function is called. Missing if nothing can change. */
      subscribe:
        fixed?.of("resource").some(({ route }) => route.by === "code" && route.code.watch) === false
          ? undefined
          : (uri: string, changed: (uri: string) => void) => this.#watches.add(uri, changed),
      /** The values for an argument; `undefined` for a prompt or a template that does not exist. Missing if it suggests none. */
      complete:
        items?.some((item) => item.declaration.kind !== "tool" && makesSuggestions(item)) === false
          ? undefined
          : (request: ServerCompletion, signal: AbortSignal) => this.#suggest(request, signal),
      /** Whether results may link to what is in no list. */
      keepsResults: fixed !== undefined && (fixed.config.results?.maxChars ?? -1) !== -1,
      /** Reports to the operator why a client got a general error. */
      report: this.#report,
      /** Set if the lists can change, or are not complete yet. */
      changing: isComposed
        ? undefined
        : {
            /** Resolves when the first lists are complete. Rejects if there will be none. */
            ready: () => this.#opening,
            /** Calls back after each change, until the returned function is called. */
            onChange: (listener: (change: ListChange) => void) => {
              this.#listeners.add(listener);
              followers.add(listener);
              return () => {
                this.#listeners.delete(listener);
                followers.delete(listener);
              };
            },
          },
    };
  }

  /** What clients of both eras are served. `only`: the scope of the only client; otherwise, each has its own. */
  serveClients({
    only,
    toolSearch,
    isStateless = false,
  }: {
    only: (() => ClientScope) | undefined;
    toolSearch: LlmToolsOptions | undefined;
    isStateless?: boolean;
  }) {
    // A modern client may be another one with each request, and its list is the same for all of them.
    const fixed = toolSearch && { options: toolSearch, grows: false };
    const growing = toolSearch && { options: toolSearch, grows: !isStateless };
    if (only !== undefined) {
      const modern = this.serve(only, fixed);
      const legacy = growing === undefined ? modern : this.serve(only, growing);
      return { legacy: (_: { sessionId: string }) => legacy, modern };
    }
    return {
      legacy: ({ sessionId }: { sessionId: string }) => {
        let scope: ClientScope | undefined;
        return this.serve(() => {
          scope ??= this.createScope(sessionId);
          return scope;
        }, growing);
      },
      // Nothing outlives the call but what its result links to.
      modern: this.serve(() => this.createScope(randomUUID(), "modern"), fixed),
    };
  }

  /** The suggestions for an argument; `undefined` for an unknown prompt or template. */
  #suggest(request: ServerCompletion, signal: AbortSignal): Promise<Suggestions> | undefined {
    if (this.#parts === undefined) return undefined;
    const state = this.#parts.frame.state();
    const { ref } = request;
    const isMeant = ({ uri, uriTemplate = uri }: { uri?: string; uriTemplate?: string }) =>
      ref.type === "ref/resource" && uriTemplate === ref.uri;
    const resources = state.of("resource");
    // An app knows the template of its server, which a single source must have.
    const ofApps = resources.filter((one) => ref.type === "ref/resource" && ownUriOf(one) === ref.uri);
    const item =
      ref.type === "ref/prompt"
        ? attempt(() => state.resolvePrompt(ref.name))
        : (resources.find(({ shown }) => isMeant(shown)) ?? (ofApps.length === 1 ? ofApps[0] : undefined));
    return item && this.#parts.calls.suggest(item, request, { state, scope: this.#sessionScope(), signal });
  }

  /** The scope of the session itself, for what belongs to no client. */
  #sessionScope(): CallScope {
    return { ...this.ownScope(), record: () => {}, log: () => {}, ask: undefined };
  }

  async #loadSkill(args: Record<string, unknown>, request: CallRequest): ReturnType<CallTool> {
    const { name, file = instructionsFile } = args;
    if (typeof name !== "string" || typeof file !== "string")
      return createErrorResult("`name` and `file` must be strings.");
    try {
      const skill = request.state.resolveSkill(name);
      const answer = await this.#open.calls.askSkill(skill, findSkillFile(skill, file), request);
      if ("inputRequired" in answer) return answer;
      const content = answer.contents.map((one) =>
        one.text === undefined
          ? ({ type: "resource", resource: one } as const)
          : ({ type: "text", text: one.text } as const),
      );
      return { content };
    } catch (error) {
      if (error instanceof TrailblazeError) return createErrorResult(error.message);
      throw error;
    }
  }

  async #callTool(
    state: SessionState,
    tool: ToolItem,
    args: Record<string, unknown>,
    request: ServedRequest,
    round: InputRound | undefined,
    client: ClientScope,
  ): ReturnType<CallTool> {
    const { shown, route } = tool;
    const { isComposed = false } = this.#options;
    let failed: Parameters<NonNullable<CallScope["onError"]>>[0] | undefined;
    const asked = this.#ask(state, client, request, round);
    asked.scope.onError = (outcome) => {
      if (isComposed) failed = outcome;
    };
    const result = await this.#open.calls.askTool(tool, args, asked);
    if ("inputRequired" in result) return result;
    if (failed?.uncaught !== undefined) this.#report(`${shown.name}: ${failed.uncaught.message}`);
    const isEntry = route.by === "code" && route.code.entry !== undefined;
    const isExit = isComposed && isEntry && result.variant === "FatalError";
    const error = failed?.error ?? (isExit ? createGeneralError() : undefined);
    if (error !== undefined) throw new RpcError(error.code, error.message, error.data);
    const answer = toCallResult(result);
    // Clients refuse a success without what the schema says.
    if (this.#open.calls.large.isIncomplete(result) && shown.outputSchema !== undefined)
      answer.isError = true;
    // Clients check it against the schema, and would show what does not match instead of the failure.
    if (answer.isError && shown.outputSchema !== undefined) delete answer.structuredContent;
    return answer;
  }
}
