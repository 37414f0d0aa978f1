import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { createPackNotes } from "../mcp/client/call-result.ts";
import { UnaskedError } from "../mcp/questions.ts";
import type {
  CallChannel,
  ServedPrompt,
  ServedResources,
  ServedServer,
  ServedTool,
  ToolRequest,
} from "../mcp/served-server.ts";
import { createProblem, failure, TrailblazeError } from "../problems/index.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import { toSignal } from "../runtime/abort-listeners.ts";
import { type BundleTool, createBundleTools } from "../runtime/bundle-tools.ts";
import { CodeExitError } from "../runtime/code-exit-error.ts";
import type { CodeRunners } from "../runtime/code-runners.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import { invokeTool } from "../runtime/invoke-tool.ts";
import { createPackResource } from "../runtime/pack-resource.ts";
import type { CodePlace, OutcomeRunner } from "../runtime/tool-code.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import { failedResult, readToolResult } from "../runtime/tool-result.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { advertisedPrompt, createPackPrompt } from "../session/pack-prompt.ts";
import type { ComposedServer } from "./compose-server.ts";
import { describeForClients, findMemberTool, type MemberTool } from "./member-code.ts";
import { servePrompt } from "./serve-prompt.ts";
import { serveResources, serveSuggestions, type UseCode } from "./serve-resources.ts";

/** What a server needs to serve its members. */
export interface MemberServerOptions {
  config: SessionConfig;
  runners: CodeRunners;
  validator: SchemaValidator;
  builtIns: readonly BuiltInDefinition[];
  /** Also offers tools that need a session or are not for models. */
  allTools: boolean;
  /** Reports to the operator why a call failed with a general error. */
  report(message: string): void;
}

/** An `initialize` function and its owner. */
interface Initializer {
  name: string;
  owner: CodeOwner;
  place: CodePlace;
  options: Readonly<Record<string, unknown>>;
}

/** The tools and prompts of a composed server, ready to be called. */
export class MemberServer {
  readonly #server: ComposedServer;
  readonly #options: MemberServerOptions;
  readonly #members: readonly MemberTool[];
  readonly #initializers: readonly Initializer[];
  readonly tools: ServedTool[];
  readonly prompts: ServedPrompt[];
  readonly #resources: ServedResources;
  readonly #noteLeftOut: ReturnType<typeof createPackNotes>;
  readonly #complete: ServedServer["complete"];

  private constructor(
    server: ComposedServer,
    options: MemberServerOptions,
    bundles: ReadonlyMap<InspectedItem, readonly BundleTool[]>,
  ) {
    this.#server = server;
    this.#options = options;
    this.#noteLeftOut = createPackNotes(({ code, message }) => options.report(`${code}: ${message}`));
    this.#members = server.members.tools.flatMap((member): MemberTool[] => {
      if (member.type !== "bundle") return findMemberTool(member, server, options);
      const entries = bundles.get(member.item) ?? [];
      return entries.map((tool) => ({
        ...tool,
        name: tool.entry.name,
        qualifiedName: null,
        definition: tool.entry,
      }));
    });
    this.#initializers = this.#findInitializers();
    const offered = this.#members.filter(({ definition }) => this.#isOffered(definition));
    const names = numberNames(offered.map(({ name }) => name));
    this.tools = offered.map((tool, index) => this.#serveTool(tool, names[index] ?? tool.name));
    const { prompts } = server.members;
    const nobody = { session: { id: "", clientInfo: null, capabilities: {} }, meta: {} };
    const inPrompt = (owner: CodeOwner, channel: CallChannel): HandlerContext => ({
      ...{ signal: toSignal(channel.signal), log: channel.log, progress: channel.progress, options: {} },
      callTool: (name, args) =>
        this.#callInside(name, args, owner, nobody, { ...channel, depth: channel.depth + 1 }),
    });
    const ownerOf = (item: InspectedItem): CodeOwner => {
      const { pack } = server.packOf(item);
      return { pack, root: pack.location };
    };
    const useCode: UseCode = (owner, channel) => ({
      runner: () => this.#runnerOf(owner),
      context: inPrompt(owner, channel),
    });
    const resources = server.members.resources.map((item) => createPackResource(item, ownerOf(item)));
    this.#resources = serveResources(resources, useCode, options.report, this.#noteLeftOut);
    const promptNames = numberNames(prompts.map(advertisedPrompt));
    this.#complete = serveSuggestions(
      [
        ...prompts.map((item, index) => {
          const name = promptNames[index] ?? advertisedPrompt(item);
          return { kind: "prompt" as const, name, by: { code: { item, owner: ownerOf(item) } } };
        }),
        ...resources.map((one) => ({ kind: "resource" as const, name: one.uri, by: { code: one } })),
      ],
      useCode,
    );
    this.prompts = prompts.map((item, index) => {
      const owner = ownerOf(item);
      const name = promptNames[index] ?? advertisedPrompt(item);
      const prompt = createPackPrompt(item, owner);
      const leaveOut = this.#noteLeftOut("prompts/get", { name }, owner);
      return servePrompt(name, prompt.listing, (args, channel, round) =>
        prompt.get(args, { ...useCode(owner, channel), leaveOut }, round),
      );
    });
  }

  /** Compiles bundles. Throws `TrailblazeError` for a bundle that cannot be served. */
  static async create(server: ComposedServer, options: MemberServerOptions): Promise<MemberServer> {
    const bundles = new Map<InspectedItem, readonly BundleTool[]>();
    for (const member of server.members.tools) {
      if (member.type !== "bundle") continue;
      const { item } = member;
      const { tools, problems } = await createBundleTools(item, server.packOf(item), (reference) => {
        const referred = server.findReferred(item, reference);
        const [tool] = referred === undefined ? [] : findMemberTool(referred, server, options);
        return (
          tool?.code ?? createProblem("ToolNotFound", { name: reference, otherKind: undefined, nearest: [] })
        );
      });
      const [broken] = problems.filter(({ severity }) => severity === "error");
      if (broken !== undefined) throw new TrailblazeError(broken);
      bundles.set(item, tools);
    }
    return new MemberServer(server, options, bundles);
  }

  get served(): ServedServer {
    const { info, instructions } = this.#server;
    return {
      info,
      instructions,
      tools: this.tools,
      prompts: this.prompts,
      resources: this.#resources,
      complete: this.#complete,
      report: this.#options.report,
    };
  }

  /** Runs `initialize` of the server, then of each tool, once each. Throws `TrailblazeError` `InitializeFailed`. */
  async initialize(): Promise<void> {
    for (const { owner, handler } of this.#members.map(({ code }) => code)) {
      // Handlers of packs were found when their definitions were checked.
      if (owner.pack === undefined && handler.source.from === "module") await this.#loadOwn(owner, handler);
    }
    for (const one of this.#initializers) await this.#runInitialize(one);
  }

  /** The server's, then its tools' in their order. */
  #findInitializers(): Initializer[] {
    const { origin, name } = this.#server;
    const found: (Omit<Initializer, "place"> & { place: CodePlace | undefined })[] = [];
    if (origin !== undefined) {
      const { item, pack } = origin;
      const owner = { pack, root: pack.location };
      const place = placeOfCode(item.definition?.initialize, owner.root, "initialize", item);
      found.push({ name: item.qualifiedName, owner, place, options: {} });
    }
    for (const { qualifiedName, code } of this.#members) {
      const { owner, initialize: place, options } = code;
      found.push({ name: qualifiedName ?? name, owner, place, options });
    }
    return found.filter((one): one is Initializer => one.place !== undefined);
  }

  /** The runner of an owner's code. A new runner after an exit runs `initialize` again. */
  async #runnerOf(owner: CodeOwner): Promise<OutcomeRunner> {
    const runner = await this.#options.runners.get(owner);
    for (const one of this.#initializers) {
      if (one.owner.pack?.location === owner.pack?.location) await this.#runInitialize(one);
    }
    return runner;
  }

  /** Throws `HandlerNotFound` if a built-in's module or export is missing. */
  async #loadOwn(owner: CodeOwner, place: CodePlace): Promise<void> {
    try {
      await (await this.#options.runners.get(owner)).load?.(place);
    } catch (error) {
      const handler = place.source.from === "module" ? place.source.handler : "";
      const reason = error instanceof Error ? error.message : String(error);
      throw failure("HandlerNotFound", { handler, reason });
    }
  }

  /** Runs an `initialize` function, once per runner. */
  async #runInitialize({ name, owner, place, options }: Initializer): Promise<void> {
    try {
      await (await this.#options.runners.get(owner)).initialize(place, { options });
    } catch (error) {
      throw failure("InitializeFailed", {
        name,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }

  #isOffered(definition: { _meta?: unknown }): boolean {
    const { meta } = readToolMeta(definition._meta);
    return this.#options.allTools || (meta.isForLlm && !meta.requiresContext);
  }

  #serveTool({ qualifiedName, definition, ...tool }: MemberTool, name: string): ServedTool {
    const { validator, report, config } = this.#options;
    const { owner } = tool.code;
    return {
      name,
      qualifiedName,
      listing: describeForClients(definition, qualifiedName, name),
      call: async ({ name: _name, arguments: args, meta, session, ...round }, channel) => {
        const { depth, questions: _questions, ...calling } = channel;
        const clientInfo = isRecord(session.clientInfo) ? session.clientInfo : {};
        const capabilities = isRecord(session.capabilities) ? session.capabilities : {};
        try {
          const outcome = await invokeTool(tool, {
            ...{ args, depth, validator, maxDepth: config.callback.maxDepth },
            context: { ...calling, ...round },
            isForClient: depth === 0,
            leaveOut: this.#noteLeftOut("tools/call", { name }, owner),
            request: { name, meta, session: { id: session.id, clientInfo, capabilities } },
            getRunner: () => this.#runnerOf(owner),
            callTool: (inner, values, innerDepth) =>
              this.#callInside(inner, values, owner, { meta, session }, { ...channel, depth: innerDepth }),
          });
          if ("inputRequired" in outcome) return outcome;
          const fault = "result" in outcome ? outcome.fault : outcome.uncaught?.message;
          if (fault !== undefined) report(`${name}: ${fault}`);
          return "result" in outcome ? { result: outcome.result } : { error: outcome.error };
        } catch (error) {
          // Clients get a general error for what an entry of a bundle does not catch.
          if (tool.entry !== undefined || !isOfCode(error)) throw error;
          return { result: createErrorResult(error.message) };
        }
      },
    };
  }

  /** The tool of this server for a name in a handler: its served name, its qualified name, or its name in the same pack. */
  #findInside(name: string, { pack }: CodeOwner): ServedTool | undefined {
    const wanted = [
      name,
      name.replace(/^@/, ""),
      ...(pack === undefined ? [] : [`${pack.qualifiedName}/${name}`]),
    ];
    return (
      this.tools.find((tool) => tool.name === name) ??
      this.tools.find(({ qualifiedName }) => qualifiedName !== null && wanted.includes(qualifiedName))
    );
  }

  async #callInside(
    name: string,
    args: unknown,
    owner: CodeOwner,
    { session, meta }: Pick<ToolRequest, "session" | "meta">,
    channel: CallChannel,
  ) {
    const tool = this.#findInside(String(name), owner);
    if (tool === undefined) {
      const args = { name: String(name), otherKind: undefined, nearest: [] };
      return { ...failedResult(createProblem("ToolNotFound", args).message), isError: true };
    }
    const request = { name: tool.name, arguments: isRecord(args) ? args : {}, meta, session };
    const call = [owner.pack?.name, tool.name, args];
    const answer = await channel.questions
      .answer(call, (round, signal) => tool.call({ ...request, ...round }, { ...channel, signal }))
      .catch((error) => {
        if (error instanceof UnaskedError) return { result: createErrorResult(error.message) };
        throw error;
      });
    const result = "error" in answer ? createErrorResult(answer.error.message) : answer.result;
    const { structuredContent: _, ...rest } = result;
    return { ...rest, ...readToolResult(result).result, isError: result.isError === true };
  }
}

/** Whether the process of the code exited, or its new runner failed to initialize. */
const isOfCode = (error: unknown): error is Error =>
  error instanceof CodeExitError || (error instanceof TrailblazeError && error.code === "InitializeFailed");
