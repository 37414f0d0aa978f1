import { isRecord } from "../data/parse-json.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { describeStop } from "../json-schema/check-budget.ts";
import type { SchemaCheck } from "../json-schema/schema-validator.ts";
import type {
  CallChannel,
  ServedPrompt,
  ServedServer,
  ServedTool,
  ToolRequest,
} from "../mcp/served-server.ts";
import { createProblem, failure, TrailblazeError } from "../problems/index.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import { type BundleTool, createBundleTools, type EntryCode, runEntry } from "../runtime/bundle-tools.ts";
import { CodeDiedError } from "../runtime/code-died-error.ts";
import { checkStructuredContent, createErrorResult } from "../runtime/convert-result.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import type { CodePlace, OutcomeRunner } from "../runtime/tool-code.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { readToolResult } from "../runtime/tool-result.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import type { ComposedServer } from "./compose-server.ts";
import { codeOfMember, describeForClients, type ServeMeans, type ToolCode } from "./member-code.ts";
import { advertisedPrompt, servePrompt } from "./serve-prompt.ts";

/** A tool, or an entry of a bundle. */
type Offer = { code: ToolCode } | { bundleTool: BundleTool };

/** An `initialize`, and whose it is. */
interface Initializer {
  name: string;
  owner: CodeOwner;
  place: CodePlace;
  options: Readonly<Record<string, unknown>>;
}

const nameOfOffer = (offer: Offer) => ("code" in offer ? offer.code.name : offer.bundleTool.entry.name);

/** The tools and prompts of a composed server, ready to be called. */
export class MemberServer {
  readonly #server: ComposedServer;
  readonly #means: ServeMeans;
  readonly #codes: (EntryCode & { qualifiedName?: string | null })[];
  readonly #initializers: readonly Initializer[];
  readonly tools: ServedTool[];
  readonly prompts: ServedPrompt[];

  private constructor(
    server: ComposedServer,
    means: ServeMeans,
    bundles: ReadonlyMap<InspectedItem, readonly BundleTool[]>,
  ) {
    this.#server = server;
    this.#means = means;
    const members = server.members.tools.flatMap((member): Offer[] =>
      member.type === "bundle"
        ? (bundles.get(member.item) ?? []).map((tool) => ({ bundleTool: tool }))
        : this.#codeOf(member).map((code) => ({ code })),
    );
    this.#codes = members.map((offer) => ("code" in offer ? offer.code : offer.bundleTool.code));
    this.#initializers = this.#findInitializers();
    const offered = members.filter((offer) =>
      this.#isOffered("code" in offer ? offer.code.definition : offer.bundleTool.entry),
    );
    const names = numberNames(offered.map(nameOfOffer));
    this.tools = offered.map((offer, index) => {
      const name = names[index] ?? nameOfOffer(offer);
      return "code" in offer ? this.#serveTool(offer.code, name) : this.#serveEntry(offer.bundleTool, name);
    });
    const { prompts } = server.members;
    const nobody = { session: { id: "", clientInfo: null, capabilities: {} }, meta: {} };
    const inPrompt = (owner: CodeOwner, channel: CallChannel) =>
      this.#createContext(owner, {}, nobody, channel);
    const promptNames = numberNames(prompts.map(advertisedPrompt));
    this.prompts = prompts.map((item, index) =>
      servePrompt(
        item,
        promptNames[index] ?? advertisedPrompt(item),
        server.packOf(item).pack,
        (owner) => this.#runnerOf(owner),
        inPrompt,
      ),
    );
  }

  /** Compiles what is to be compiled. Throws `TrailblazeError` for a bundle that cannot be served. */
  static async create(server: ComposedServer, means: ServeMeans): Promise<MemberServer> {
    const bundles = new Map<InspectedItem, readonly BundleTool[]>();
    for (const member of server.members.tools) {
      if (member.type !== "bundle") continue;
      const { item } = member;
      const { tools, problems } = await createBundleTools(item, server.packOf(item), (reference) => {
        const referred = server.findReferred(item, reference);
        const [code] = referred === undefined ? [] : codeOfMember(referred, server, means);
        return code ?? createProblem("ToolNotFound", { name: reference, otherKind: undefined, nearest: [] });
      });
      const [broken] = problems.filter(({ severity }) => severity === "error");
      if (broken !== undefined) throw new TrailblazeError(broken);
      bundles.set(item, tools);
    }
    return new MemberServer(server, means, bundles);
  }

  get served(): ServedServer {
    const { info, instructions } = this.#server;
    return { info, instructions, tools: this.tools, prompts: this.prompts, report: this.#means.report };
  }

  /** Runs `initialize` of the server, then of each tool, once each. Throws `TrailblazeError` `InitializeFailed`. */
  async initialize(): Promise<void> {
    for (const { owner, handler } of this.#codes) {
      // Packs' handlers were looked for when their definitions were checked.
      if (owner.pack === undefined && handler.source.from === "module") await this.#loadOwn(owner, handler);
    }
    for (const one of this.#initializers) await this.#runInitialize(one);
  }

  /** Of the server, then of its tools in their order. */
  #findInitializers(): Initializer[] {
    const { origin, name } = this.#server;
    const found: (Omit<Initializer, "place"> & { place: CodePlace | undefined })[] = [];
    if (origin !== undefined) {
      const { item, pack } = origin;
      const owner = { pack, root: pack.location };
      const place = placeOfCode(item.definition?.initialize, owner.root, "initialize", item);
      found.push({ name: item.qualifiedName, owner, place, options: {} });
    }
    for (const { qualifiedName, owner, initialize: place, options } of this.#codes) {
      found.push({ name: qualifiedName ?? name, owner, place, options });
    }
    return found.filter((one): one is Initializer => one.place !== undefined);
  }

  /** The runner of an owner's code. One that takes the place of another that died is made ready as that was. */
  async #runnerOf(owner: CodeOwner): Promise<OutcomeRunner> {
    const runner = await this.#means.runners.get(owner);
    for (const one of this.#initializers) {
      if (one.owner.pack?.location === owner.pack?.location) await this.#runInitialize(one);
    }
    return runner;
  }

  /** Throws `HandlerNotFound` where the host's own tool has no code. */
  async #loadOwn(owner: CodeOwner, place: CodePlace): Promise<void> {
    try {
      await (await this.#means.runners.get(owner)).load?.(place);
    } catch (error) {
      const handler = place.source.from === "module" ? place.source.handler : "";
      const reason = error instanceof Error ? error.message : String(error);
      throw failure("HandlerNotFound", { handler, reason });
    }
  }

  /** Does nothing where it was run already. */
  async #runInitialize({ name, owner, place, options }: Initializer): Promise<void> {
    try {
      await (await this.#means.runners.get(owner)).initialize(place, { options });
    } catch (error) {
      throw failure("InitializeFailed", {
        name,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }

  #isOffered({ _meta }: { _meta?: unknown }): boolean {
    const { meta } = readToolMeta(_meta);
    return this.#means.allTools || (meta.isForLlm && !meta.requiresContext);
  }

  #codeOf(member: Exclude<ServerMember, { type: "bundle" }>): ToolCode[] {
    return codeOfMember(member, this.#server, this.#means);
  }

  #serveTool(code: ToolCode, name: string): ServedTool {
    const { definition, handler, inputSchema, owner, options, qualifiedName } = code;
    const { validator } = this.#means;
    const outputSchema = isRecord(definition.outputSchema) ? definition.outputSchema : undefined;
    return {
      name,
      qualifiedName,
      listing: describeForClients(definition, qualifiedName, name),
      call: async (request, channel) => {
        const checked = validator.check(inputSchema, request.arguments);
        if (!checked.ok) return { result: refuse(checked) };
        const context = this.#createContext(owner, options, request, channel);
        const answer = await contain(async () =>
          (await this.#runnerOf(owner)).call(handler, checked.value, context),
        );
        return { result: await checkStructuredContent(answer, outputSchema, validator) };
      },
    };
  }

  #serveEntry(tool: BundleTool, name: string): ServedTool {
    const { entry, code } = tool;
    const { validator, report } = this.#means;
    return {
      name,
      qualifiedName: null,
      listing: describeForClients(entry, null, name),
      call: async (request, channel) => {
        const checked = validator.check(entry.inputSchema, request.arguments);
        if (!checked.ok) return { result: refuse(checked) };
        const { meta, session } = request;
        const { clientInfo, capabilities } = session;
        const seen = {
          name,
          arguments: checked.value,
          meta,
          session: {
            id: session.id,
            clientInfo: isRecord(clientInfo) ? clientInfo : {},
            capabilities: isRecord(capabilities) ? capabilities : {},
          },
        };
        const context = this.#createContext(code.owner, code.options, request, channel);
        const runner = await this.#runnerOf(code.owner);
        const outcome = await runEntry(tool, seen, validator, (inputs) =>
          runner.invoke(code.handler, inputs, context),
        );
        if ("error" in outcome) {
          const { error, uncaught } = outcome;
          if (uncaught !== undefined) report(`${name}: ${uncaught.message}`);
          return { error };
        }
        return { result: await checkStructuredContent(outcome.result, entry.outputSchema, validator) };
      },
    };
  }

  #createContext(
    owner: CodeOwner,
    options: Readonly<Record<string, unknown>>,
    request: Pick<ToolRequest, "session" | "meta">,
    channel: CallChannel,
  ): HandlerContext {
    const { signal, log, progress } = channel;
    return {
      signal,
      options,
      log,
      progress,
      callTool: (name, args) => this.#callInside(name, args, owner, request, channel),
    };
  }

  /** The tool of this server that a handler means: by the name it is served under, a qualified or its pack's own name. */
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
    if (tool === undefined)
      throw failure("ToolNotFound", { name: String(name), otherKind: undefined, nearest: [] });
    const depth = channel.depth + 1;
    const { maxDepth } = this.#means.config.callback;
    const answer =
      depth > maxDepth
        ? { result: createErrorResult(`Calls are nested deeper than ${maxDepth}.`) }
        : await tool.call(
            { name: tool.name, arguments: isRecord(args) ? args : {}, meta, session },
            { ...channel, depth },
          );
    const result = "error" in answer ? createErrorResult(answer.error.message) : answer.result;
    return { ...readToolResult(result).result, ...result, isError: result.isError === true };
  }
}

/** What a client is told of arguments that break the schema. */
function refuse({ message, schemaFault, stopped }: Extract<SchemaCheck, { ok: false }>): CallToolResult {
  if (stopped !== undefined) return createErrorResult(describeStop("the arguments", stopped));
  return createErrorResult(
    schemaFault === undefined
      ? `The arguments break the schema: ${message}`
      : `The inputSchema cannot be used: ${schemaFault}`,
  );
}

/** The end of the process that code runs in is a failure of its call, and so is a new one that cannot be made ready. */
async function contain(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await call();
  } catch (error) {
    const isOfCode =
      error instanceof CodeDiedError ||
      (error instanceof TrailblazeError && error.code === "InitializeFailed");
    if (isOfCode) return createErrorResult(error.message);
    throw error;
  }
}
