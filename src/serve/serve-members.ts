import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../definitions/types.ts";
import { CodeDiedError } from "../execution/code-died-error.ts";
import { checkStructuredContent, createErrorResult } from "../execution/convert-result.ts";
import type { HandlerContext } from "../execution/handler-context.ts";
import type { SchemaValidator } from "../execution/schema-validator.ts";
import type { CodePlace } from "../execution/tool-code.ts";
import { qualifiedNameKey } from "../extension-schema/meta-keys.ts";
import { failure } from "../problems/index.ts";
import { numberNames } from "../registry/advertised-names.ts";
import type { CodeRunners } from "../session/code-runners.ts";
import type { BuiltInDefinition, SessionConfig } from "../session/config/session-config.ts";
import type { CodeOwner } from "../session/session-tool.ts";
import { placeOfCode, readOptions } from "../session/tool-candidates.ts";
import { readToolMeta } from "../session/tool-meta.ts";
import { readToolResult } from "../session/tool-result.ts";
import type { ComposedServer } from "./compose-server.ts";
import { fillPrompt, readPromptAnswer } from "./prompt-content.ts";
import type { CallChannel, ServedPrompt, ServedServer, ServedTool, ToolRequest } from "./served-server.ts";

/** What carrying out calls needs. */
export interface ServeMeans {
  config: SessionConfig;
  runners: CodeRunners;
  validator: SchemaValidator;
  builtIns: readonly BuiltInDefinition[];
  /** Also offer tools that need a session or are not for models. */
  allTools: boolean;
}

/** A tool's code, whoever's it is. */
interface ToolCode {
  /** The name it advertises. */
  name: string;
  qualifiedName: string | null;
  definition: Readonly<Record<string, unknown>>;
  owner: CodeOwner;
  handler: CodePlace;
  initialize: CodePlace | undefined;
  options: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown, other: string) => (typeof value === "string" ? value : other);

/** What `tools/list` says: MCP's own keys, and by which name the rest of us know the tool. */
function describeForClients(
  { definition, qualifiedName }: Pick<ToolCode, "definition" | "qualifiedName">,
  name: string,
): Record<string, unknown> {
  const { title, description, inputSchema, outputSchema, annotations, _meta } = definition;
  const meta = {
    ...(isRecord(_meta) ? _meta : {}),
    ...(qualifiedName === null ? {} : { [qualifiedNameKey]: qualifiedName }),
  };
  return {
    name,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    // MCP wants the type of both to be said.
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? inputSchema : {}) },
    ...(isRecord(outputSchema) && outputSchema.type === "object" ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
}

/** The tools and prompts of a composed server, ready to be called. */
export class MemberServer {
  readonly #server: ComposedServer;
  readonly #means: ServeMeans;
  readonly #codes: ToolCode[];
  readonly tools: ServedTool[];
  readonly prompts: ServedPrompt[];

  constructor(server: ComposedServer, means: ServeMeans) {
    this.#server = server;
    this.#means = means;
    this.#codes = server.members.tools.flatMap((member) => {
      switch (member.type) {
        case "builtIn":
          return this.#builtInCode(member.name);
        case "tool":
          return this.#itemCode(member.item);
        case "bundle":
          return [];
      }
    });
    const offered = this.#codes.filter(({ definition }) => this.#isOffered(definition));
    const names = numberNames(offered.map(({ name }) => name));
    this.tools = offered.map((code, index) => this.#serveTool(code, names[index] ?? code.name));
    const { prompts } = server.members;
    const promptNames = numberNames(prompts.map(advertisedPrompt));
    this.prompts = prompts.map((item, index) =>
      this.#servePrompt(item, promptNames[index] ?? advertisedPrompt(item)),
    );
  }

  get served(): ServedServer {
    const { info, instructions } = this.#server;
    return { info, instructions, tools: this.tools, prompts: this.prompts };
  }

  /** Runs `initialize` of the server, then of each tool, once each. Throws `TrailblazeError` `InitializeFailed`. */
  async initialize(): Promise<void> {
    const { origin, name } = this.#server;
    if (origin !== undefined) {
      const { item, pack } = origin;
      const owner = { pack, root: pack.location };
      const place = placeOfCode(item.definition?.initialize, owner.root, "initialize", item);
      if (place !== undefined) await this.#runInitialize(item.qualifiedName, owner, place, {});
    }
    for (const code of this.#codes) {
      if (code.initialize === undefined) continue;
      await this.#runInitialize(code.qualifiedName ?? name, code.owner, code.initialize, code.options);
    }
  }

  async #runInitialize(
    name: string,
    owner: CodeOwner,
    place: CodePlace,
    options: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    try {
      await (await this.#means.runners.get(owner)).initialize(place, { options });
    } catch (error) {
      throw failure("InitializeFailed", {
        name,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }

  #isOffered({ _meta }: Readonly<Record<string, unknown>>): boolean {
    const { meta } = readToolMeta(_meta);
    return this.#means.allTools || (meta.isForLlm && !meta.requiresContext);
  }

  #builtInCode(name: string): ToolCode[] {
    const { builtIns, config } = this.#means;
    const definition = builtIns.find((one) => one.name === name);
    const owner: CodeOwner = { pack: undefined, root: config.directory };
    return definition === undefined ? [] : this.#code(name, definition, owner);
  }

  #itemCode(item: InspectedItem): ToolCode[] {
    const pack = this.#server.packOf(item);
    return this.#code(item.qualifiedName, item.definition ?? {}, { pack, root: pack.location }, item);
  }

  #code(
    qualifiedName: string,
    definition: Readonly<Record<string, unknown>>,
    owner: CodeOwner,
    item?: InspectedItem,
  ): ToolCode[] {
    const handler = placeOfCode(definition.handler, owner.root, "handler", item);
    if (handler === undefined) return [];
    return [
      {
        name: textOf(definition.name, qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1)),
        qualifiedName,
        definition,
        owner,
        handler,
        initialize: placeOfCode(definition.initialize, owner.root, "initialize", item),
        options: readOptions(definition.options, this.#means.config.options.get(qualifiedName)),
      },
    ];
  }

  #serveTool(code: ToolCode, name: string): ServedTool {
    const { definition, handler, owner, options, qualifiedName } = code;
    const { validator, runners } = this.#means;
    const inputSchema = isRecord(definition.inputSchema) ? definition.inputSchema : undefined;
    const outputSchema = isRecord(definition.outputSchema) ? definition.outputSchema : undefined;
    return {
      name,
      qualifiedName,
      listing: describeForClients(code, name),
      call: async (request, channel) => {
        const checked = await validator.check(inputSchema, request.arguments);
        if (!checked.ok) {
          const reason = checked.schemaFault ?? checked.message;
          const what =
            checked.schemaFault === undefined
              ? "The arguments break the schema"
              : "The inputSchema cannot be used";
          return { result: createErrorResult(`${what}: ${reason}`) };
        }
        const runner = await runners.get(owner);
        try {
          const context = this.#createContext(code.owner, options, request, channel);
          const answer = await runner.call(handler, checked.value, context);
          return { result: await checkStructuredContent(answer, outputSchema, validator) };
        } catch (error) {
          if (error instanceof CodeDiedError) return { result: createErrorResult(error.message) };
          throw error;
        }
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

  #servePrompt(item: InspectedItem, name: string): ServedPrompt {
    const definition = item.definition ?? {};
    const pack = this.#server.packOf(item);
    const owner: CodeOwner = { pack, root: pack.location };
    const { title, description, content } = definition;
    const args = Array.isArray(definition.arguments) ? definition.arguments.filter(isRecord) : [];
    const handler = placeOfCode(definition.handler, owner.root, "handler", item);
    return {
      name,
      listing: {
        name,
        ...(typeof title === "string" ? { title } : {}),
        ...(typeof description === "string" ? { description } : {}),
        ...(args.length > 0 ? { arguments: args.map(describeArgument) } : {}),
        _meta: { [qualifiedNameKey]: item.qualifiedName },
      },
      required: args.filter(({ required }) => required === true).map((one) => String(one.name)),
      get: async (given, channel) => {
        const shown = typeof description === "string" ? { description } : {};
        if (content !== undefined) return { messages: fillPrompt(content, given), ...shown };
        if (handler === undefined) throw new Error("The prompt has no content.");
        const session = { id: "", clientInfo: null, capabilities: {} };
        const context = this.#createContext(owner, {}, { session, meta: {} }, channel);
        const runner = await this.#means.runners.get(owner);
        const outcome = await runner.invoke(handler, { ...given }, context);
        if ("thrown" in outcome) throw new Error(outcome.thrown.message);
        const { returned } = outcome;
        if (returned.kind === "refused") throw new Error(returned.message);
        const answer =
          returned.kind === "json"
            ? JSON.parse(returned.json)
            : returned.kind === "text"
              ? returned.text
              : "";
        return { ...shown, ...readPromptAnswer(answer) };
      },
    };
  }
}

const advertisedPrompt = ({ definition, declaration }: InspectedItem) =>
  textOf(definition?.name, declaration.name);

function describeArgument({ name, description, required }: Record<string, unknown>) {
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof required === "boolean" ? { required } : {}),
  };
}
