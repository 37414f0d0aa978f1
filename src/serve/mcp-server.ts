// The handlers of what is served, for the clients of both eras of MCP.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { carryIntegers, markIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { checkParams } from "../mcp/check-params.ts";
import type { ServerCompletion } from "../mcp/client/server-calls.ts";
import type { ListKey } from "../mcp/client/server-lists.ts";
import { badRequest, type RequestId, RpcError, rpcCode } from "../mcp/client-message.ts";
import {
  AskedResult,
  createLegacyQuestions,
  createModernQuestions,
  type StateSeal,
  UnaskedError,
} from "../mcp/questions.ts";
import { DefaultJsonSchemaValidator } from "../mcp/sdk-shims.ts";
import type { Listing, ServedRequest } from "../mcp/served-server.ts";
import { TrailblazeError } from "../problems/index.ts";
import { appsExtension, declaredApps } from "../runtime/apps.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import { InvalidQuestionError } from "../runtime/input-rounds.ts";
import { skillsExtension } from "../skills/skill-entry.ts";
import type { ServedServer } from "./session-gateway.ts";

export type Era = "legacy" | "modern";

/** How long modern clients may keep lists, and whether they may share them. */
export interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

export interface ServingOptions {
  hint: CacheHint;
  seal: StateSeal;
}

/** How many suggestions MCP allows in an answer. */
const mostSuggestions = 100;
/** How many URIs one client may be subscribed to. */
export const mostSubscriptions = 1000;
/** How long a user may take to answer a question, in milliseconds. */
const answerMs = 10 * 60_000;

/** The code of the error for an unknown URI in legacy revisions. */
const noLegacyResource = -32002;

/** Takes params as they are: `checkParams` has checked them, and a copy would not remember its integers. */
const asWritten = {
  "~standard": { version: 1, vendor: "trailblaze", validate: (value: unknown) => ({ value }) },
} as const;

type WrappedHandler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The SDK's server with the error codes of JSON-RPC, of the legacy revisions, and of the authors of tools. */
class EraServer extends Server {
  /** The requests that fail with the one code for which the SDK sends another. */
  readonly #recoded = new Set<RequestId>();

  // The SDK calls it for each handler, also for its own.
  protected override _wrapHandler(method: string, handler: WrappedHandler): WrappedHandler {
    // The SDK would parse the request and the result of a tool again, which are valid already.
    const wrapped = method === "tools/call" ? handler : super._wrapHandler(method, handler);
    return async (request, context) => {
      checkParams(method, request.params);
      try {
        return await wrapped(request, context);
      } catch (error) {
        const isRecoded = error instanceof RpcError && error.code === noLegacyResource;
        // An aborted request gets no answer.
        if (isRecoded && !context.mcpReq.signal.aborted) this.#recoded.add(request.id);
        throw error;
      }
    };
  }

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#withOwnCode(message), options);
    await super.connect(transport);
  }

  #withOwnCode(message: JSONRPCMessage): JSONRPCMessage {
    if (!("error" in message) || message.id === undefined || !this.#recoded.delete(message.id))
      return message;
    return { ...message, error: { ...message.error, code: noLegacyResource } };
  }
}

type Completion = Omit<ServerCompletion, "context"> & { context?: Partial<ServerCompletion["context"]> };
type Named = { name: string; arguments?: Record<string, unknown> };

const ignore = () => {};

/** MCP's levels of logging. */
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** In legacy revisions, structured content and its schema are objects. */
function forLegacyList({ outputSchema, ...listing }: Listing): Listing {
  return isRecord(outputSchema) && outputSchema.type === "object" ? { ...listing, outputSchema } : listing;
}

/** Entries per page of a list. */
const pageSize = 100;

// Encoded, so that clients do not rely on its meaning.
const formatCursor = (offset: number) => Buffer.from(`from:${offset}`).toString("base64url");

/** A page of a list. A cursor that no page of this list has is a bad request. */
function pageOf<Entry>(entries: readonly Entry[], cursor: string | undefined) {
  const [, digits = "0"] = /^from:(\d{1,9})$/.exec(Buffer.from(cursor ?? "", "base64url").toString()) ?? [];
  const start = Number(digits);
  const isValid = start > 0 && start % pageSize === 0 && start < entries.length;
  if (cursor !== undefined && !(isValid && formatCursor(start) === cursor))
    throw badRequest("Invalid cursor.");
  const end = start + pageSize;
  const page = entries.slice(start, end);
  return end < entries.length ? { entries: page, nextCursor: formatCursor(end) } : { entries: page };
}

/** What a server can do. Lists that are not complete yet may have anything. */
function capabilitiesOf(served: ServedServer) {
  const { changing, subscribe, complete } = served;
  const offers = (key: ListKey) => changing !== undefined || served.list(key).length > 0;
  const list = changing && { listChanged: true };
  return {
    logging: {},
    tools: { ...list },
    ...(offers("prompts") && { prompts: { ...list } }),
    ...((offers("resources") || offers("resourceTemplates") || offers("skills") || served.keepsResults) && {
      resources: { ...list, ...(subscribe && { subscribe: true }) },
    }),
    extensions: { [appsExtension]: {}, ...(offers("skills") && { [skillsExtension]: {} }) },
    ...(complete && { completions: {} }),
  };
}

/** The lists by their methods. */
const lists = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
} as const satisfies Record<string, ListKey>;

/** Makes the servers of one era's connections, or of its requests: each needs a new one, and they share what they serve. */
export class McpServers {
  readonly #served: ServedServer;
  readonly #era: Era;
  readonly #options: ServingOptions;

  constructor(served: ServedServer, era: Era, options: ServingOptions) {
    this.#served = served;
    this.#era = era;
    this.#options = options;
  }

  /** `sessionId`: what tools see as `request.session.id`; `null` for a modern client. */
  create(sessionId: string | null): Server {
    const { info, instructions } = this.#served;
    const { hint } = this.#options;
    const capabilities = capabilitiesOf(this.#served);
    const cached = ["server/discover", ...Object.keys(lists), "resources/read"];
    const cacheHints = Object.fromEntries(cached.map((method) => [method, hint]));
    const server = new EraServer(info, {
      capabilities,
      cacheHints,
      jsonSchemaValidator: new DefaultJsonSchemaValidator(),
      instructions,
    });
    const handle = <Sent>(
      method: string,
      answer: (params: Sent, context: ServerContext) => object | Promise<object>,
    ) => {
      const answerReady = async (params: Sent, context: ServerContext) => {
        await this.#served.changing?.ready();
        try {
          return await answer(params, context);
        } catch (error) {
          if (error instanceof AskedResult) return error.result;
          throw error;
        }
      };
      server.setRequestHandler(method, { params: asWritten }, answerReady as never);
    };
    const requestOf = (context: ServerContext, ...item: unknown[]) =>
      this.#createRequest(server, sessionId, context, item);
    for (const [method, key] of Object.entries(lists)) {
      if (!((method.split("/")[0] as string) in capabilities)) continue;
      handle<{ cursor?: string }>(method, ({ cursor }, { mcpReq: { envelope } }) =>
        this.#list(key, cursor, declaredApps(this.#capabilitiesOf(server, envelope)) !== undefined),
      );
    }
    handle<Named>("tools/call", ({ name, arguments: args = {} }, context) =>
      this.#callTool(name, args, requestOf(context, name, args)),
    );
    if ("prompts" in capabilities)
      handle<Named>("prompts/get", ({ name, arguments: args = {} }, context) =>
        this.#getPrompt(name, args as Record<string, string>, requestOf(context, name, args)),
      );
    if ("resources" in capabilities)
      handle<{ uri: string }>("resources/read", ({ uri }, context) =>
        this.#read(uri, requestOf(context, uri)),
      );
    if (skillsExtension in capabilities.extensions) {
      handle<{ cursor?: string }>("skills/list", ({ cursor }) =>
        this.#withHint(this.#list("skills", cursor)),
      );
      handle<{ uri: string }>("skills/get", ({ uri }) => this.#withHint({ skill: this.#findSkill(uri) }));
    }
    if ("completions" in capabilities)
      handle<Completion>("completion/complete", (params, { mcpReq }) =>
        this.#complete(params, mcpReq.signal),
      );
    if (this.#era === "legacy") this.#followFor(server);
    return server;
  }

  /** Tells a legacy client of changes, until its connection ends. */
  #followFor(server: Server): void {
    const ends = new Map<string, () => void>();
    const end = (uri: string) => {
      ends.get(uri)?.();
      ends.delete(uri);
    };
    let isClosed = false;
    let stopFollowing = ignore;
    server.oninitialized = () => {
      stopFollowing();
      stopFollowing = followChanges(this.#served, server);
    };
    server.onclose = () => {
      isClosed = true;
      stopFollowing();
      [...ends.keys()].forEach(end);
    };
    if (server.getCapabilities().resources?.subscribe !== true) return;
    const updated = (uri: string) => void server.sendResourceUpdated({ uri }).catch(ignore);
    server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
      await this.#served.changing?.ready();
      if (this.#served.findResource(uri) === undefined) throw this.#notFound(uri);
      // The client may have gone, or subscribed to others, in the meantime.
      if (isClosed) return {};
      if (!ends.has(uri) && ends.size >= mostSubscriptions)
        throw badRequest(`A client may have at most ${mostSubscriptions} subscriptions.`);
      end(uri);
      ends.set(uri, this.#served.subscribe?.(uri, updated) ?? ignore);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      end(uri);
      return {};
    });
  }

  #createRequest(
    server: Server,
    sessionId: string | null,
    { mcpReq }: ServerContext,
    item: readonly unknown[],
  ): ServedRequest {
    const { signal, requestState, droppedInputResponseKeys: [notAnswer] = [] } = mcpReq;
    if (notAnswer !== undefined) throw badRequest(`params.inputResponses.${notAnswer} must be an object.`);
    const { trailblaze: _, ...meta } = mcpReq._meta ?? {};
    const envelope: Listing = mcpReq.envelope ?? {};
    const isLegacy = this.#era === "legacy";
    const clientInfo = isLegacy ? server.getClientVersion() : envelope[CLIENT_INFO_META_KEY];
    const capabilities = this.#capabilitiesOf(server, envelope);
    const questions = isLegacy
      ? createLegacyQuestions({
          capabilities,
          signal,
          send: (request) => mcpReq.send(request, asWritten, { timeout: answerMs, signal }),
        })
      : createModernQuestions(
          {
            ...mcpReq,
            capabilities,
            identity: [mcpReq.method, this.#served.info.name, ...item],
            requestState: requestState<string>(),
          },
          this.#options.seal,
        );
    return {
      meta,
      session: { id: sessionId, clientInfo: clientInfo ?? null, capabilities: capabilities ?? {} },
      signal,
      questions,
      log(name, data = null) {
        if (signal.aborted) return;
        const level = levels.find((one) => one === name) ?? "info";
        // The SDK knows which levels the client wants. Over HTTP, the stream of the answer is the only one that each
        // client has; after its end, an open stream of the session gets the message.
        void mcpReq
          .log(level, data)
          .catch(() => server.sendLoggingMessage({ level, data }))
          .catch(ignore);
      },
      progress(progress, total, message) {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken === undefined || signal.aborted) return;
        const params = { progressToken, progress, total, message };
        void mcpReq.notify({ method: "notifications/progress", params }).catch(ignore);
      },
    };
  }

  #capabilitiesOf(server: Server, envelope: Listing = {}): unknown {
    return this.#era === "legacy" ? server.getClientCapabilities() : envelope[CLIENT_CAPABILITIES_META_KEY];
  }

  #list(key: ListKey, cursor: string | undefined, showsApps = false): object {
    const { entries, ...rest } = pageOf(this.#served.list(key, showsApps), cursor);
    const isLegacyTools = this.#era === "legacy" && key === "tools";
    return { [key]: isLegacyTools ? entries.map(forLegacyList) : entries, ...rest };
  }

  /** The SDK adds the hint to results of MCP's own methods only. */
  #withHint(result: object): object {
    return this.#era === "legacy" ? result : { ...result, ...this.#options.hint };
  }

  #findSkill(uri: string): Listing {
    const skill = this.#served.list("skills").find((one) => one.uri === uri);
    if (skill === undefined) throw badRequest(`Unknown skill ${JSON.stringify(uri)}.`);
    return skill;
  }

  async #callTool(name: string, written: Record<string, unknown>, request: ServedRequest): Promise<object> {
    const call = this.#served.findTool(name);
    if (call === undefined) throw badRequest(`Unknown tool ${JSON.stringify(name)}.`);
    // Only a session may set these two; from an MCP client they would be forged.
    const { [legacyContextKey]: _, ["__proto__"]: __, ...args } = written;
    carryIntegers(written, args);
    try {
      const answer = await request.questions.answer(undefined, (round, signal) =>
        call(args, { ...request, signal }, round),
      );
      const { content, structuredContent, isError, _meta } = answer;
      const isSent = this.#era === "modern" || isRecord(structuredContent);
      const kept = { content, isError, _meta, ...(isSent && { structuredContent }) };
      return markIntegers(carryIntegers(answer, kept));
    } catch (error) {
      if (error instanceof UnaskedError) return createErrorResult(error.message);
      if (error instanceof RpcError || error instanceof AskedResult) throw error;
      // The client of a canceled call expects no answer.
      if (!request.signal.aborted)
        this.#served.report(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      throw new RpcError(rpcCode.internal, "The server failed to answer.");
    }
  }

  async #getPrompt(name: string, args: Record<string, string>, request: ServedRequest): Promise<object> {
    const prompt = this.#served.findPrompt(name);
    if (prompt === undefined) throw badRequest(`Unknown prompt ${JSON.stringify(name)}.`);
    const missing = prompt.required.filter((one) => !Object.hasOwn(args, one));
    if (missing.length > 0) {
      const names = missing.map((one) => JSON.stringify(one)).join(", ");
      throw badRequest(`Prompt ${JSON.stringify(name)} is missing required arguments: ${names}.`);
    }
    try {
      const answer = await request.questions.answer(undefined, (round, signal) =>
        prompt.get(args, { ...request, signal }, round),
      );
      return markIntegers(answer);
    } catch (error) {
      throw this.#toRpcError(error, name);
    }
  }

  async #read(uri: string, request: ServedRequest): Promise<object> {
    const read = this.#served.findResource(uri);
    if (read === undefined) throw this.#notFound(uri);
    try {
      const { isStatic, ...result } = await request.questions.answer(undefined, (round, signal) =>
        read({ ...request, signal }, round),
      );
      // What a handler answers may differ for each read and client; the SDK adds its hint to the other answers.
      const isKept = isStatic || this.#era === "legacy";
      return { ...markIntegers(result), ...(!isKept && { ttlMs: 0, cacheScope: "private" }) };
    } catch (error) {
      // The server that the resource is of does not know it.
      if (error instanceof TrailblazeError && error.code === "ResourceNotFound") throw this.#notFound(uri);
      throw this.#toRpcError(error, uri);
    }
  }

  async #complete({ ref, argument, context }: Completion, signal: AbortSignal): Promise<object> {
    const request = { ref, argument, context: { arguments: context?.arguments ?? {} } };
    const completing = this.#served.complete?.(request, signal);
    const [kind, name] = ref.type === "ref/prompt" ? ["prompt", ref.name] : ["resource template", ref.uri];
    if (completing === undefined) throw badRequest(`Unknown ${kind} ${JSON.stringify(name)}.`);
    const suggested = await completing.catch((error) => {
      throw this.#toRpcError(error, name);
    });
    const values = suggested.values.filter((value) => typeof value === "string");
    const hasMore = suggested.hasMore === true || values.length > mostSuggestions;
    const total = suggested.total ?? (suggested.hasMore ? undefined : values.length);
    const shown = values.slice(0, mostSuggestions);
    return { completion: { values: shown, ...(total !== undefined && { total }), hasMore } };
  }

  #notFound(uri: string): RpcError {
    const code = this.#era === "legacy" ? noLegacyResource : rpcCode.params;
    return new RpcError(code, `Resource not found: ${JSON.stringify(uri)}.`, { uri });
  }

  /** The error of a handler for clients: with its message. What it may not ask is reported to the operator, too. */
  #toRpcError(error: unknown, name: string): Error {
    if (error instanceof RpcError || error instanceof AskedResult) return error;
    if (!(error instanceof Error)) return new RpcError(rpcCode.internal, "The server failed to answer.");
    // A session wraps the error of its handler.
    const fault = [error, error.cause].find((one) => one instanceof InvalidQuestionError);
    if (fault !== undefined) this.#served.report(`${name}: ${fault.message}`);
    return new RpcError(rpcCode.internal, error.message);
  }
}

/** Tells the client of a connection which lists have changed, until the returned function is called. */
export function followChanges({ changing }: ServedServer, server: Server): () => void {
  // Without a connection, or without an open stream over HTTP, no client is told.
  const stop = changing?.onChange(({ tools, prompts, resources }) => {
    if (tools) void server.sendToolListChanged().catch(ignore);
    if (prompts) void server.sendPromptListChanged().catch(ignore);
    if (resources) void server.sendResourceListChanged().catch(ignore);
  });
  return stop ?? ignore;
}
