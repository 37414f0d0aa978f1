// The handlers of what is served, for the clients of both eras of MCP.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
  type SpecTypeName,
  type SpecTypes,
  specTypeSchemas,
  type Transport,
} from "@modelcontextprotocol/server";
import { carryIntegers, markIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { findOfferedLists, type ListCapability, listKeys, listRules } from "../mcp/client/server-lists.ts";
import { badRequest, RpcError, rpcCode } from "../mcp/client-message.ts";
import {
  AskedResult,
  createLegacyQuestions,
  createModernQuestions,
  type StateSeal,
} from "../mcp/questions.ts";
import { DefaultJsonSchemaValidator } from "../mcp/sdk-shims.ts";
import type { Listing } from "../mcp/served-server.ts";
import { TrailblazeError } from "../problems/index.ts";
import { declaredApps } from "../runtime/apps.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import type { CallScope } from "../session/calls.ts";
import { skillsExtension } from "../skills/skill-entry.ts";
import type { ClientRequest, GatewayClient, SessionGateway } from "./session-gateway.ts";

export type Era = "legacy" | "modern";

export interface ServingOptions {
  /** How long modern clients may keep lists, and whether they may share them. */
  hint: { ttlMs: number; cacheScope: "public" | "private" };
  seal: StateSeal;
}

/** How long a user may take to answer a question, in milliseconds. */
const answerMs = 10 * 60_000;
/** How many URIs a legacy client may be subscribed to. */
const mostSubscriptions = 1000;
/** How many suggestions MCP allows in an answer. */
const mostSuggestions = 100;

/** The code of the error for an unknown URI in legacy revisions, and what stands for it in the SDK, which would send another. */
const noLegacyResource = { code: -32002, standIn: Number.MIN_SAFE_INTEGER };

/** How many faults of params are told: a request can have millions. */
const mostIssues = 5;

/** The SDK's own handlers, which would answer invalid params with an internal error. */
const ownOfSdk = new Map<string, SpecTypeName>([
  ["initialize", "InitializeRequestParams"],
  ["logging/setLevel", "SetLevelRequestParams"],
]);

/** The params of requests are checked, but stay as they are: a copy would not remember their integers. */
const paramsOf = <Type extends SpecTypeName>(type: Type) => ({
  "~standard": {
    version: 1 as const,
    vendor: "trailblaze",
    async validate(value: unknown) {
      const { issues } = await specTypeSchemas[type]["~standard"].validate(value);
      return issues === undefined
        ? { value: value as SpecTypes[Type] }
        : { issues: issues.slice(0, mostIssues) };
    },
  },
});

const ignore = () => {};

/** In legacy revisions, structured content and its schema are objects. */
function forLegacyList({ outputSchema, ...listing }: Listing): Listing {
  return isRecord(outputSchema) && outputSchema.type === "object" ? { ...listing, outputSchema } : listing;
}

const pageSize = 100;

/** A page of a list. A cursor that no page of this list has is a bad request. */
function pageOf<Entry>(entries: readonly Entry[], cursor: string | undefined) {
  const starts = Array.from({ length: Math.ceil(entries.length / pageSize) }, (_, at) => at * pageSize);
  const start = cursor === undefined ? 0 : starts.find((at) => at > 0 && String(at) === cursor);
  if (start === undefined) throw badRequest("Invalid cursor.");
  const end = start + pageSize;
  return { entries: entries.slice(start, end), ...(end < entries.length && { nextCursor: String(end) }) };
}

type WrappedHandler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The server of one connection, or of one request: each needs a new one, and they share what they serve. */
export class ClientServer extends Server {
  readonly #gateway: SessionGateway;
  readonly #client: GatewayClient;
  readonly #era: Era;
  readonly #options: ServingOptions;
  /** The ends of what it watches, by what the client asked with: a URI, or the id of a request to listen. */
  readonly #watched = new Map<unknown, () => void>();
  readonly #tellUpdated = (uri: string) => void this.sendResourceUpdated({ uri }).catch(ignore);

  constructor(client: GatewayClient, era: Era, options: ServingOptions) {
    const { capabilities, instructions, options: about } = client.gateway;
    const cached = ["server/discover", ...listKeys.map((key) => listRules[key].method), "resources/read"];
    const cacheHints = Object.fromEntries(cached.map((method) => [method, options.hint]));
    const jsonSchemaValidator = new DefaultJsonSchemaValidator();
    super(about.info, { capabilities, cacheHints, jsonSchemaValidator, instructions });
    this.#gateway = client.gateway;
    this.#client = client;
    this.#era = era;
    this.#options = options;
    for (const key of findOfferedLists(capabilities))
      this.#handle(listRules[key].method, "PaginatedRequestParams", ({ cursor }, { mcpReq }) => {
        const showsApps = declaredApps(this.#capabilitiesIn(mcpReq.envelope)) !== undefined;
        const { entries, ...rest } = pageOf(this.#gateway.list(client, key, showsApps), cursor);
        const isLegacyTools = era === "legacy" && key === "tools";
        const page = { [key]: isLegacyTools ? entries.map(forLegacyList) : entries, ...rest };
        return key === "skills" ? this.#withHint(page) : page;
      });
    this.#handle("tools/call", "CallToolRequestParams", (params, context) => this.#callTool(params, context));
    if ("prompts" in capabilities)
      this.#handle("prompts/get", "GetPromptRequestParams", ({ name, arguments: args = {} }, context) =>
        this.#askFor(context, [name, args], (request) => this.#gateway.getPrompt(name, args, request)),
      );
    if ("resources" in capabilities)
      this.#handle("resources/read", "ReadResourceRequestParams", async ({ uri }, context) => {
        const read = this.#gateway.findResource(client, uri);
        if (read === undefined) throw this.#notFound(uri);
        const { isStatic, ...result } = await this.#askFor(context, [uri], read).catch((error) => {
          // The server that the resource is of does not know it.
          const isUnknown = error instanceof TrailblazeError && error.code === "ResourceNotFound";
          throw isUnknown ? this.#notFound(uri) : error;
        });
        // What a handler answers may differ for each read and client; the SDK adds its hint to the other answers.
        const isKept = isStatic || era === "legacy";
        return { ...result, ...(!isKept && { ttlMs: 0, cacheScope: "private" }) };
      });
    if (skillsExtension in capabilities.extensions)
      this.#handle("skills/get", "ReadResourceRequestParams", ({ uri }) => {
        const skill = this.#gateway.list(this.#client, "skills").find((one) => one.uri === uri);
        if (skill === undefined) throw badRequest(`Unknown skill ${JSON.stringify(uri)}.`);
        return this.#withHint({ skill });
      });
    this.#handle("completion/complete", "CompleteRequestParams", async (params, { mcpReq }) => {
      const { ref, argument, context } = params;
      const { calls, state } = this.#gateway.frame;
      const item = this.#gateway.findCompleted(ref);
      const [kind, name] = ref.type === "ref/prompt" ? ["prompt", ref.name] : ["resource template", ref.uri];
      if (item === undefined) throw badRequest(`Unknown ${kind} ${JSON.stringify(name)}.`);
      const request = { ref, argument, context: { arguments: context?.arguments ?? {} } };
      const use = { state: state(), scope: this.#gateway.sessionScope(), signal: mcpReq.signal };
      const suggested = await calls.suggest(item, request, use);
      const values = suggested.values.filter((value) => typeof value === "string");
      const hasMore = suggested.hasMore === true || values.length > mostSuggestions;
      return { completion: { values: values.slice(0, mostSuggestions), hasMore } };
    });
    if (era === "modern") return;
    this.follow();
    if (capabilities.resources?.subscribe !== true) return;
    this.#handle("resources/subscribe", "SubscribeRequestParams", ({ uri }) => {
      if (this.#gateway.findResource(client, uri) === undefined) throw this.#notFound(uri);
      if (!this.#watched.has(uri) && this.#watched.size >= mostSubscriptions)
        throw badRequest(`A client may have at most ${mostSubscriptions} subscriptions.`);
      const followed = [uri];
      // The client may have gone in the meantime.
      if (this.transport !== undefined) this.watch(uri, followed);
      if (followed.length > 0) return {};
      this.unwatch(uri);
      throw badRequest("The server has too many subscriptions. Try again later.");
    });
    this.#handle("resources/unsubscribe", "UnsubscribeRequestParams", ({ uri }) => {
      this.unwatch(uri);
      return {};
    });
  }

  /** Tells the client of a connection which lists and resources have changed, until it ends. */
  follow(): void {
    const { listeners } = this.#gateway;
    // Without a connection, or without an open stream over HTTP, no client is told.
    const tell = (list: ListCapability) =>
      void this.notification({ method: `notifications/${list}/list_changed` }).catch(ignore);
    const begin = () => void listeners.set(tell, this.#client);
    if (this.#era === "legacy") this.oninitialized = begin;
    else begin();
    this.onclose = () => {
      listeners.delete(tell);
      for (const key of this.#watched.keys()) this.unwatch(key);
    };
  }

  /** Tells the client of changes of resources, until `unwatch`. `key`: what it asked with. Only those that are followed stay in `uris`. */
  watch(key: unknown, uris: string[]): void {
    this.unwatch(key);
    this.#watched.set(key, this.#gateway.watches.follow(uris, this.#tellUpdated));
  }

  unwatch(key: unknown): void {
    this.#watched.get(key)?.();
    this.#watched.delete(key);
  }

  #handle<Type extends SpecTypeName>(
    method: string,
    type: Type,
    answer: (params: SpecTypes[Type], context: ServerContext) => object | Promise<object>,
  ): void {
    this.setRequestHandler(method, { params: paramsOf(type) }, async (params, context) => {
      await this.#gateway.opened;
      try {
        return markIntegers(await answer(params, context)) as Result;
      } catch (error) {
        if (error instanceof AskedResult) return error.result as Result;
        if (error instanceof RpcError) throw error;
        if (error instanceof TrailblazeError && error.code === "InvalidArguments")
          throw badRequest(error.message);
        // The error of a handler has its message.
        const message = error instanceof Error ? error.message : "The server failed to answer.";
        throw new RpcError(message, rpcCode.internal);
      }
    });
  }

  protected override _wrapHandler(method: string, handler: WrappedHandler): WrappedHandler {
    // The SDK would parse the request and the result of a tool again, which are valid already.
    if (method === "tools/call") return handler;
    const wrapped = super._wrapHandler(method, handler);
    const type = ownOfSdk.get(method);
    if (type === undefined) return wrapped;
    return async (request, context) => {
      const { issues } = await paramsOf(type)["~standard"].validate(request.params ?? {});
      const faults = issues?.map(({ path = [], message }) => `${path.join(".")}: ${message}`);
      if (faults !== undefined) throw badRequest(`Invalid params for ${method}: ${faults.join(", ")}`);
      return wrapped(request, context);
    };
  }

  override async connect(transport: Transport): Promise<void> {
    const { code, standIn } = noLegacyResource;
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const isRecoded = "error" in message && message.error.code === standIn;
      return send(isRecoded ? { ...message, error: { ...message.error, code } } : message, options);
    };
    await super.connect(transport);
  }

  #capabilitiesIn(envelope: Listing = {}): unknown {
    return this.#era === "legacy" ? this.getClientCapabilities() : envelope[CLIENT_CAPABILITIES_META_KEY];
  }

  /** Asks for an answer, and the client for what it needs. `item`: what is called, and how. */
  async #askFor<Answer extends object>(
    { mcpReq }: ServerContext,
    item: readonly unknown[],
    answer: (request: ClientRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const envelope: Listing = mcpReq.envelope ?? {};
    const capabilities = this.#capabilitiesIn(envelope);
    const identity = [mcpReq.method, this.#gateway.options.info.name, ...item];
    const { ask, round, signal } =
      this.#era === "legacy"
        ? createLegacyQuestions({
            capabilities,
            signal: mcpReq.signal,
            send: (request, signal) =>
              mcpReq.send(request, specTypeSchemas.Result, { timeout: answerMs, signal }),
          })
        : await createModernQuestions(mcpReq, capabilities, identity, this.#options.seal);
    const { trailblaze: _, ...meta } = mcpReq._meta ?? {};
    const { progressToken } = meta;
    const ofClient = this.#client.scope();
    const { sessionId, memory } = ofClient;
    const clientInfo = this.#era === "legacy" ? this.getClientVersion() : envelope[CLIENT_INFO_META_KEY];
    const session = {
      id: this.#era === "legacy" ? sessionId : null,
      clientInfo: isRecord(clientInfo) ? clientInfo : {},
      capabilities: isRecord(capabilities) ? capabilities : {},
    };
    const log: CallScope["log"] = (entry) => {
      if (mcpReq.signal.aborted) return;
      const level = isSpecType.LoggingLevel(entry.level) ? entry.level : "info";
      const data = memory.redact(entry.data ?? null);
      // The SDK knows which levels the client wants.
      void mcpReq.log(level, data).catch(ignore);
    };
    const onProgress: ClientRequest["onProgress"] = (step) => {
      if (progressToken === undefined || mcpReq.signal.aborted) return;
      const params = { ...step, progressToken };
      void mcpReq.notify({ method: "notifications/progress", params }).catch(ignore);
    };
    const scope = { ...ofClient, reportFault: this.#gateway.report, ask, request: { meta, session }, log };
    return answer({ scope, signal, round, onProgress });
  }

  /** The SDK adds the hint to results of MCP's own methods only. */
  #withHint(result: object): object {
    return this.#era === "legacy" ? result : { ...result, ...this.#options.hint };
  }

  async #callTool(
    { name, arguments: written = {} }: SpecTypes["CallToolRequestParams"],
    context: ServerContext,
  ): Promise<object> {
    // Only a session may set these two; from an MCP client they would be forged.
    const { [legacyContextKey]: _, ["__proto__"]: __, ...args } = written;
    carryIntegers(written, args);
    try {
      const answer = await this.#askFor(context, [name, written], (request) =>
        this.#gateway.callTool(this.#client, name, args, request),
      );
      const { content, structuredContent, isError, _meta } = answer;
      const isSent = this.#era === "modern" || isRecord(structuredContent);
      return carryIntegers(answer, { content, isError, _meta, ...(isSent && { structuredContent }) });
    } catch (error) {
      if (error instanceof RpcError || error instanceof AskedResult) throw error;
      // The client of a canceled call expects no answer.
      if (!context.mcpReq.signal.aborted)
        this.#gateway.report(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      throw new RpcError("The server failed to answer.", rpcCode.internal);
    }
  }

  #notFound(uri: string): RpcError {
    const code = this.#era === "legacy" ? noLegacyResource.standIn : rpcCode.params;
    return new RpcError(`Resource not found: ${JSON.stringify(uri)}.`, code, { uri });
  }
}
