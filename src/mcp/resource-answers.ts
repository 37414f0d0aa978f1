import { markIntegers } from "../data/exact-integers.ts";
import { TrailblazeError } from "../problems/index.ts";
import { makeServedName } from "../qualified-names/advertised-names.ts";
import type { ReadAnswer } from "../runtime/resource-contents.ts";
import { AskedResult } from "./questions.ts";
import { badRequest, RpcError } from "./rpc-error.ts";
import { type CallContext, type EraRules, handlerError, ownMeta, pageOf } from "./served-answers.ts";
import type { CompletionRequest, ServedServer } from "./served-server.ts";

/** How many suggestions MCP allows in an answer. */
const mostSuggestions = 100;
/** How many URIs one client may be subscribed to. */
export const mostSubscriptions = 1000;

type Rules = Pick<EraRules, "cacheHint" | "noResource">;

/** What a server can do with resources and suggestions. Lists that are not complete yet may have anything. */
export function resourceCapabilities({ changing, resources, complete }: ServedServer) {
  const { listed, templates, subscribe } = resources ?? { listed: [], templates: [] };
  const hasResources = changing !== undefined || listed.length > 0 || templates.length > 0;
  return {
    ...(hasResources && resources !== undefined
      ? {
          resources: {
            ...(changing === undefined ? {} : { listChanged: true }),
            ...(subscribe === undefined ? {} : { subscribe: true }),
          },
        }
      : {}),
    ...(complete === undefined ? {} : { completions: {} }),
  };
}

/** The answers of a server to requests for resources and suggestions. Rejects with `RpcError`. */
export class ResourceAnswers {
  readonly #served: ServedServer;
  readonly #rules: Rules;

  constructor(served: ServedServer, rules: Rules) {
    this.#served = served;
    this.#rules = rules;
  }

  async list(cursor: string | undefined) {
    await this.#served.changing?.ready();
    const { entries, ...rest } = pageOf(this.#served.resources?.listed ?? [], cursor);
    return { resources: entries, ...rest };
  }

  async listTemplates(cursor: string | undefined) {
    await this.#served.changing?.ready();
    const { entries, ...rest } = pageOf(this.#served.resources?.templates ?? [], cursor);
    return { resourceTemplates: entries, ...rest };
  }

  async read(uri: string, context: CallContext): Promise<object> {
    await this.#served.changing?.ready();
    const read = this.#served.resources?.find(uri);
    if (read === undefined) throw this.#notFound(uri);
    const { session, channel } = context;
    let answer: ReadAnswer;
    try {
      answer = await channel.questions.answer(undefined, (round, signal) =>
        read({ uri, meta: ownMeta(context), session, ...round }, { ...channel, signal }),
      );
    } catch (error) {
      if (error instanceof AskedResult) return error.result;
      // The server that the resource is of does not know it.
      if (error instanceof TrailblazeError && error.code === "ResourceNotFound") throw this.#notFound(uri);
      throw handlerError(error, { served: this.#served, name: uri });
    }
    const { isStatic, ...result } = answer;
    return { ...markIntegers(result), ...this.#rules.cacheHint(isStatic) };
  }

  /** What subscribes a legacy client to a URI that exists; see `ServedResources.subscribe`. */
  async subscribe(uri: string, changed: () => void): Promise<() => () => void> {
    await this.#served.changing?.ready();
    const { resources } = this.#served;
    if (resources?.find(uri) === undefined) throw this.#notFound(uri);
    return () => resources.subscribe?.(uri, changed) ?? (() => {});
  }

  /** `params` are those of a valid request. */
  async complete(params: object, signal: AbortSignal): Promise<{ completion: object }> {
    await this.#served.changing?.ready();
    const request = readCompletion(params);
    const { kind, name } = request;
    const prompt = kind === "prompt" && this.#served.prompts.find((one) => makeServedName(one.name) === name);
    const completing = this.#served.complete?.(prompt ? { ...request, name: prompt.name } : request, signal);
    if (completing === undefined)
      throw badRequest(
        `Unknown ${kind === "prompt" ? "prompt" : "resource template"} ${JSON.stringify(name)}.`,
      );
    const suggested = await completing.catch((error) => {
      throw handlerError(error, { served: this.#served, name });
    });
    const values = suggested.values.filter((value) => typeof value === "string");
    const hasMore = suggested.hasMore === true || values.length > mostSuggestions;
    const total = suggested.total ?? (suggested.hasMore ? undefined : values.length);
    return {
      completion: {
        values: values.slice(0, mostSuggestions),
        ...(total === undefined ? {} : { total }),
        hasMore,
      },
    };
  }

  #notFound(uri: string): RpcError {
    return new RpcError(this.#rules.noResource, `Resource not found: ${JSON.stringify(uri)}.`, { uri });
  }
}

function readCompletion(params: object): CompletionRequest {
  const { ref, argument, context } = params as {
    ref: { type: string; name?: string; uri?: string };
    argument: { name: string; value: string };
    context?: { arguments?: Record<string, string> };
  };
  return {
    kind: ref.type === "ref/prompt" ? "prompt" : "resource",
    name: ref.name ?? ref.uri ?? "",
    argument: argument.name,
    value: argument.value,
    arguments: context?.arguments ?? {},
  };
}
