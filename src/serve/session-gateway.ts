import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import type { ServerCompletion } from "../mcp/client/server-calls.ts";
import type { ListCapability, ListKey } from "../mcp/client/server-lists.ts";
import { badRequest, RpcError } from "../mcp/client-message.ts";
import type { Listing } from "../mcp/served-server.ts";
import { TrailblazeError } from "../problems/index.ts";
import { makeServedName, searchToolName } from "../qualified-names/advertised-names.ts";
import { appsExtension, isForAppsAlone } from "../runtime/apps.ts";
import { createGeneralError, type EntryError } from "../runtime/bundle.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { createEntry, createEntryMeta } from "../runtime/mcp-shapes.ts";
import type { CallToolResult, PromptResult, ToolResult } from "../runtime/tool-result.ts";
import type { CallRequest, CallScope } from "../session/calls.ts";
import type { ItemOf, SkillItem, ToolItem } from "../session/items.ts";
import { fullNameOf } from "../session/names.ts";
import { Session } from "../session/session.ts";
import type { SessionChange, SessionFrame } from "../session/session-frame.ts";
import { SessionMemory } from "../session/session-memory.ts";
import { findSkillFile } from "../session/session-skills.ts";
import type { SessionState } from "../session/session-state.ts";
import {
  createSearchTool,
  type LlmToolsOptions,
  refuseSearchName,
  ToolSearch,
} from "../session/tool-search.ts";
import { hasFile, skillsExtension } from "../skills/skill-entry.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import { hostVersion } from "../version.ts";
import { ResourceWatches } from "./resource-watches.ts";

/** A call of a client; what it calls is of the state at that time. */
export type ClientRequest = Omit<CallRequest, "state">;

/** The scope of a client, without what each of its requests adds. */
export type ClientScope = Pick<CallScope, "sessionId" | "memory" | "reader">;

/** A client, or all that share a scope. */
export interface GatewayClient {
  gateway: SessionGateway;
  /** Called for each request: a modern client may be another one each time. */
  scope(): ClientScope;
  /** What it finds instead of being listed many tools; it may call all of them. */
  search?: { finder: ToolSearch; options: LlmToolsOptions; grows: boolean } | undefined;
}

export interface GatewayOptions {
  info: { name: string; version: string };
  /** Whether clients are listed the tools that are not for models, too. */
  allTools?: boolean | undefined;
  /** Whether it is a composed server: its lists do not change, and errors of bundles are errors of JSON-RPC. */
  isComposed?: boolean;
  skillTool?: boolean | undefined;
  /** Lists the search for tools if there are many; no tool may have its name. */
  toolSearch?: LlmToolsOptions | undefined;
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

/** The tool with which models of clients that do not know skills load them. */
const skillToolName = "load_skill";

/** The tool as clients are listed it; of skills with one name, with their full names. */
function describeSkillTool(skills: readonly SkillItem[]): Listing {
  const lines = skills.map((one) => {
    const { name, description } = one.shown;
    const isOnly = skills.every((other) => other === one || other.shown.name !== name);
    return `- ${isOnly ? name : fullNameOf(one)}: ${description}`;
  });
  return {
    name: skillToolName,
    title: "Load skill",
    description: `Loads a skill: instructions for a task. Load the one that fits before you begin.\n${lines.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of a skill." },
        file: { type: "string", description: "The path of one of its files. Default: SKILL.md." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

/** What clients are listed of a state. */
function listsOf(state: SessionState, options: GatewayOptions) {
  const offered = new Set(options.allTools ? state.tools : state.toolsForLlm());
  const tools = state.of("tool");
  const served = tools.filter(({ shown }) => offered.has(shown));
  const forApps = tools.filter(
    ({ shown }) => !offered.has(shown) && isForAppsAlone(shown._meta) && state.isShown(shown),
  );
  const ofTools = new Map([...served, ...forApps].map((tool) => [tool.shown, describeTool(tool)] as const));
  const listingsOf = (tools: readonly ToolItem[]) => tools.map(({ shown }) => ofTools.get(shown) as Listing);
  const skills = state.of("skill");
  // A tool of the session keeps its name.
  const isTaken = served.some((tool) => tool.shown.name === skillToolName);
  const hasSkillTool = options.skillTool === true && skills.length > 0 && !isTaken;
  const ofResources = (key: "uri" | "uriTemplate") => {
    const entries = state.of("resource").map(({ shown, listing }) => [shown[key], listing] as const);
    const named = entries.filter(([uri]) => uri !== undefined);
    // Of several with one URI, the first is read.
    return [...new Map(named.toReversed()).values()].reverse();
  };
  const lists: Readonly<Record<ListKey, readonly Listing[]>> = {
    tools: listingsOf(served),
    prompts: state.of("prompt").map(describePrompt),
    resources: ofResources("uri"),
    resourceTemplates: ofResources("uriTemplate"),
    skills: skills.map(({ listing }) => ({ ...listing })),
  };
  return {
    state,
    lists,
    /** Of the tools that can be called. */
    ofTools,
    ofApps: listingsOf(forApps),
    /** The one that loads skills; `undefined` where it is not offered. */
    skillTool: hasSkillTool ? describeSkillTool(skills) : undefined,
  };
}

/** A session, opening or open, as the servers of all its clients use it. */
export class SessionGateway {
  readonly options: GatewayOptions;
  /** Gets what clients are not told. */
  readonly report: (message: string) => void;
  readonly watches: ResourceWatches;
  /** Resolves when the first lists are complete. Rejects if there will be none. */
  readonly opened: Promise<Session>;
  /** `undefined` until the session is open. */
  current: SessionFrame | undefined;
  /** Each hears of changes of lists for its client. */
  readonly listeners = new Map<(list: ListCapability) => void, GatewayClient>();
  #listed: ReturnType<typeof listsOf> | undefined;

  constructor(
    opening: Promise<Session>,
    report: (message: string) => void,
    options: Partial<GatewayOptions> = {},
  ) {
    this.report = report;
    this.options = { info: { name: "trailblaze", version: hostVersion }, ...options };
    this.watches = new ResourceWatches(this);
    this.opened = opening.then((session) => {
      const frame = Session.frameOf(session);
      if (options.toolSearch !== undefined) refuseSearchName(frame.state());
      this.current = frame;
      frame.states.served.add(this.announce);
      this.watches.refresh();
      return session;
    });
    this.opened.catch(() => {});
  }

  get frame(): SessionFrame {
    if (this.current === undefined) throw new Error("The session is not open yet.");
    return this.current;
  }

  /** Tells every client, or only one, that lists have changed. */
  readonly announce = (change: Omit<SessionChange, "problems">, only?: GatewayClient): void => {
    if (change.resources) this.watches.refresh();
    for (const list of ["tools", "prompts", "resources"] as const)
      for (const [listener, client] of this.listeners)
        if (change[list] && (only === undefined || client === only)) listener(list);
  };

  /** The scope of the session itself, for its only client. Its calls are not recorded, because it has no end. */
  ownScope(): ClientScope {
    const { id: sessionId, memory } = this.frame;
    return { sessionId, memory, reader: sessionId };
  }

  /** The scope of the session itself, for what belongs to no client. */
  sessionScope(): CallScope {
    return { ...this.frame.calls.own, log: () => {}, ask: undefined };
  }

  /** A scope of its own: it starts with the configured memory, and shares the processes. */
  createScope(sessionId: string, reader = sessionId): ClientScope {
    const { config } = this.frame.state();
    const memory = new SessionMemory(config.memory, config.sensitiveMemory, this.frame.memory);
    return { sessionId, memory, reader };
  }

  /** A client with the scope. `grows`: what it searches joins its list. */
  createClient(scope: () => ClientScope, grows = false): GatewayClient {
    const { toolSearch: options } = this.options;
    if (options === undefined) return { gateway: this, scope };
    const finder = new ToolSearch(() => this.frame, makeServedName);
    return { gateway: this, scope, search: { finder, options, grows } };
  }

  #list() {
    const state = this.frame.state();
    if (state !== this.#listed?.state) this.#listed = listsOf(state, this.options);
    return this.#listed;
  }

  /** What clients learn of how to use it; `undefined` until the session is open. */
  get instructions(): string | undefined {
    return this.current?.state().parts.instructions;
  }

  /** What MCP calls its capabilities. A composed server has what it offers; a session may come to have anything. */
  get capabilities() {
    const fixed = this.options.isComposed ? this.frame.state() : undefined;
    const offers = (...keys: ListKey[]) =>
      fixed === undefined || keys.some((key) => this.#list().lists[key].length > 0);
    const list = fixed === undefined && { listChanged: true };
    const watches = fixed
      ?.of("resource")
      .some(({ route }) => route.by === "code" && route.code.watch !== undefined);
    // Results may link to what is in no list.
    const cutsResults = (fixed?.config.results?.maxChars ?? -1) !== -1;
    return {
      logging: {},
      tools: { ...list },
      ...(offers("prompts") && { prompts: { ...list } }),
      ...((offers("resources", "resourceTemplates", "skills") || cutsResults) && {
        resources: { ...list, ...(watches !== false && { subscribe: true }) },
      }),
      extensions: { [appsExtension]: {}, ...(offers("skills") && { [skillsExtension]: {} }) },
      completions: {},
    };
  }

  /** The entries of a list. `showsApps`: of tools also those that are for the code of apps alone, which a client hides from models. */
  list({ search }: GatewayClient, key: ListKey, showsApps = false): readonly Listing[] {
    const { lists, ofTools, ofApps, skillTool } = this.#list();
    if (key !== "tools") return lists[key];
    const found = search?.finder
      .list(search.options, search.grows)
      .map((tool) => ofTools.get(tool) ?? createEntry("tools", createSearchTool()));
    return [...(found ?? lists.tools), ...(showsApps ? ofApps : []), ...(skillTool ? [skillTool] : [])];
  }

  /** Calls a tool, listed or not. */
  async callTool(client: GatewayClient, name: string, args: Record<string, unknown>, request: ClientRequest) {
    if (name === searchToolName && client.search !== undefined) {
      const before = this.list(client, "tools").length;
      const result = client.search.finder.call(args);
      // What it found may be listed in any case.
      if (this.list(client, "tools").length !== before)
        this.announce({ tools: true, prompts: false }, client);
      return toCallResult(result);
    }
    const state = this.frame.state();
    const { ofTools, skillTool } = this.#list();
    if (name === skillToolName && skillTool !== undefined)
      return this.#loadSkill(args, { ...request, state });
    const tool = attempt(() => state.resolve(name));
    if (tool === undefined || !ofTools.has(tool.shown))
      throw badRequest(`Unknown tool ${JSON.stringify(name)}.`);
    const { shown, route } = tool;
    const { isComposed = false } = this.options;
    const { calls } = this.frame;
    let failed: EntryError | undefined;
    const onError = (error: EntryError) => {
      if (isComposed) failed = error;
    };
    const scope = { ...request.scope, onError };
    const result = await calls.callTool(tool, args, { ...request, state, scope });
    if (failed?.cause !== undefined) this.report(`${shown.name}: ${failed.message}`);
    const isEntry = route.by === "code" && route.code.entry !== undefined;
    const isExit = isComposed && isEntry && result.variant === "FatalError";
    const error = failed?.answer ?? (isExit ? createGeneralError() : undefined);
    if (error !== undefined) throw new RpcError(error.message, error.code, error.data);
    const answer = toCallResult(result);
    // Clients refuse a success without what the schema says.
    if (calls.large.incomplete.has(result) && shown.outputSchema !== undefined) answer.isError = true;
    // Clients check it against the schema, and would show what does not match instead of the failure.
    if (answer.isError && shown.outputSchema !== undefined) delete answer.structuredContent;
    return answer;
  }

  async #loadSkill(args: Record<string, unknown>, request: CallRequest): Promise<CallToolResult> {
    const { name, file = instructionsFile } = args;
    const textOf = (value: unknown) => (typeof value === "string" ? value : `${JSON.stringify(value)}`);
    try {
      const skill = request.state.parts.names.skill.resolve(textOf(name));
      const uri = findSkillFile(skill, textOf(file));
      const { contents } = await this.frame.calls.readSkill(skill, uri, request);
      const content = contents.map((resource) =>
        resource.text === undefined
          ? ({ type: "resource", resource } as const)
          : ({ type: "text", text: resource.text } as const),
      );
      return { content };
    } catch (error) {
      if (error instanceof TrailblazeError) return createErrorResult(error.message);
      throw error;
    }
  }

  async getPrompt(name: string, args: Record<string, string>, request: ClientRequest): Promise<PromptResult> {
    const state = this.frame.state();
    const prompt = attempt(() => state.parts.names.prompt.resolve(name));
    if (prompt === undefined) throw badRequest(`Unknown prompt ${JSON.stringify(name)}.`);
    return this.frame.calls.getPrompt(prompt, args, { ...request, state });
  }

  /** The reader of a URI: of a listed resource, of a template, of a skill, or of a link in a result. */
  findResource({ scope }: GatewayClient, uri: string) {
    const { calls } = this.frame;
    const state = this.frame.state();
    const skills = state.of("skill").filter(({ listing }) => hasFile(listing, uri));
    // One that says which files it has goes before one that may have any.
    const skill = skills.find(({ listing }) => listing.resources !== "dynamic") ?? skills[0];
    if (skill !== undefined)
      return (request: ClientRequest) => calls.readSkill(skill, uri, { ...request, state });
    const source = calls.large.find(uri, scope().reader) ?? calls.findResource(state, uri);
    return source && ((request: ClientRequest) => calls.readResource(uri, { ...request, state }));
  }

  /** The prompt or the template of a resource that a client refers to. */
  findCompleted(ref: ServerCompletion["ref"]): ItemOf<"prompt" | "resource"> | undefined {
    const state = this.frame.state();
    if (ref.type === "ref/prompt") return attempt(() => state.parts.names.prompt.resolve(ref.name));
    const resources = state.of("resource");
    // An app knows the template of its server, which a single source must have.
    const ofApps = resources.filter(({ route }) => route.id === ref.uri);
    const named = resources.find(({ shown: { uri, uriTemplate = uri } }) => uriTemplate === ref.uri);
    return named ?? (ofApps.length === 1 ? ofApps[0] : undefined);
  }
}
