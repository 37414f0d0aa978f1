import { carryIntegers, markIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { makeServedName } from "../qualified-names/advertised-names.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import { legacyContextKey } from "../runtime/handler-context.ts";
import { InvalidQuestionError } from "../runtime/input-rounds.ts";
import type { CallToolResult } from "../runtime/tool-result.ts";
import { rpcCode } from "./client-message.ts";
import { readPage } from "./pages.ts";
import { AskedResult, UnaskedError } from "./questions.ts";
import { badRequest, RpcError } from "./rpc-error.ts";
import type { CallChannel, RequestSession, ServedPrompt, ServedServer, ServedTool } from "./served-server.ts";

const general = "The server failed to answer.";

/** What the two eras of MCP do not have in common. */
export interface EraRules {
  /** The entry of a tool in `tools/list`. */
  listTool(listing: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** A valid result as it is sent. */
  sendCallResult(result: CallToolResult): object;
  /** What is added to the contents of a resource. `isStatic`: whether clients may keep them. */
  cacheHint(isStatic: boolean): object;
  /** The code of the error for an unknown URI. */
  noResource: number;
}

/** The origin of a `tools/call`, and the way back. */
export interface CallContext {
  /** `_meta` of the request. */
  meta: Readonly<Record<string, unknown>> | undefined;
  session: RequestSession;
  channel: CallChannel;
}

/** `_meta` of a request without what only hosts may set. */
export function ownMeta({ meta }: CallContext): Record<string, unknown> {
  const { trailblaze: _, ...own } = meta ?? {};
  return own;
}

/** The error of a handler for clients: with its message. What it may not ask is reported to the operator, too. */
export function handlerError(
  error: unknown,
  { served, name }: { served: Pick<ServedServer, "report">; name: string },
): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof Error)) return new RpcError(rpcCode.internal, general);
  // A session wraps the error of its handler.
  const fault = [error, error.cause].find((one) => one instanceof InvalidQuestionError);
  if (fault !== undefined) served.report(`${name}: ${fault.message}`);
  return new RpcError(rpcCode.internal, error.message);
}

const listingOf = ({ name, listing }: ServedTool | ServedPrompt) => ({
  ...listing,
  name: makeServedName(name),
});

/** A list and its index by name, which is made again after the list has changed. */
class NamedList<Entry extends { name: string }> {
  readonly #read: () => readonly Entry[];
  #indexed: readonly Entry[] | undefined;
  #byName: ReadonlyMap<string, Entry> = new Map();

  constructor(read: () => readonly Entry[]) {
    this.#read = read;
  }

  get entries(): readonly Entry[] {
    return this.#read();
  }

  find(name: string): Entry | undefined {
    const { entries } = this;
    if (entries !== this.#indexed) {
      const served = entries.map((entry) => [makeServedName(entry.name), entry] as const);
      this.#byName = new Map([...served, ...entries.map((entry) => [entry.name, entry] as const)]);
    }
    this.#indexed = entries;
    return this.#byName.get(name);
  }
}

/** The answers of a server to the requests of one era's clients. Rejects with `RpcError`. */
export class ServedAnswers {
  readonly #served: ServedServer;
  readonly #rules: EraRules;
  readonly #tools: NamedList<ServedTool>;
  readonly #prompts: NamedList<ServedPrompt>;

  constructor(served: ServedServer, rules: EraRules) {
    this.#served = served;
    this.#rules = rules;
    this.#tools = new NamedList(() => served.tools);
    this.#prompts = new NamedList(() => served.prompts);
  }

  async listTools(cursor: string | undefined) {
    await this.#served.changing?.ready();
    const { entries, ...rest } = pageOf(this.#tools.entries, cursor);
    return { tools: entries.map((entry) => this.#rules.listTool(listingOf(entry))), ...rest };
  }

  async listPrompts(cursor: string | undefined) {
    await this.#served.changing?.ready();
    const { entries, ...rest } = pageOf(this.#prompts.entries, cursor);
    return { prompts: entries.map(listingOf), ...rest };
  }

  /** `written`: the arguments as the client wrote them. */
  async callTool(
    name: string,
    written: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<object> {
    const { changing } = this.#served;
    await changing?.ready();
    const tool = this.#tools.find(name) ?? changing?.findUnlisted(name);
    if (tool === undefined) throw badRequest(`Unknown tool ${JSON.stringify(name)}.`);
    // Only a session may set these two; from an MCP client they would be forged.
    const { [legacyContextKey]: _, ...args } = written;
    carryIntegers(written, args);
    const meta = ownMeta(context);
    const { channel, session } = context;
    try {
      const answer = await channel.questions.answer(undefined, (round, signal) =>
        tool.call({ name, arguments: args, meta, session, ...round }, { ...channel, signal }),
      );
      if ("error" in answer) throw new RpcError(answer.error.code, answer.error.message, answer.error.data);
      const { content, structuredContent, isError, _meta } = answer.result;
      const result = carryIntegers(answer.result, { content, structuredContent, isError, _meta });
      return this.#rules.sendCallResult(markIntegers(result));
    } catch (error) {
      if (error instanceof AskedResult) return error.result;
      if (error instanceof UnaskedError) return createErrorResult(error.message);
      throw this.#toRpcError(error, name, channel);
    }
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { channel }: CallContext,
  ): Promise<object> {
    await this.#served.changing?.ready();
    const prompt = this.#prompts.find(name);
    if (prompt === undefined) throw badRequest(`Unknown prompt ${JSON.stringify(name)}.`);
    const missing = prompt.required.filter((one) => !Object.hasOwn(args, one));
    if (missing.length > 0) {
      const names = missing.map((one) => JSON.stringify(one)).join(", ");
      throw badRequest(`Prompt ${JSON.stringify(name)} is missing required arguments: ${names}.`);
    }
    try {
      const answer = await channel.questions.answer(undefined, (round, signal) =>
        prompt.get(args as Record<string, string>, { ...channel, signal }, round),
      );
      return markIntegers(answer);
    } catch (error) {
      if (error instanceof AskedResult) return error.result;
      throw handlerError(error, { served: this.#served, name });
    }
  }

  /** Passes on errors for the client; reports others, and the client gets a general error. */
  #toRpcError(error: unknown, name: string, { signal }: CallChannel): RpcError {
    if (error instanceof RpcError) return error;
    // The client of a canceled call expects no answer.
    if (!signal.aborted) {
      this.#served.report(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return new RpcError(rpcCode.internal, general);
  }
}

export function pageOf<Entry>(entries: readonly Entry[], cursor: string | undefined) {
  const page = readPage(entries, cursor);
  if (page === undefined) throw badRequest("Invalid cursor.");
  return page;
}

/** `params` of a progress notification. */
export const progressParams = <Token>(
  progressToken: Token,
  progress: number,
  total: number | undefined,
  message: string | undefined,
) => ({
  progressToken,
  progress,
  ...(total === undefined ? {} : { total }),
  ...(message === undefined ? {} : { message }),
});

/** The arguments in the params of a `tools/call` or `prompts/get`. */
export const argumentsIn = (params: unknown): Record<string, unknown> =>
  isRecord(params) && isRecord(params.arguments) ? params.arguments : {};
