// How the questions of handlers reach the client of a request, in both eras of MCP.
import { randomUUID } from "node:crypto";
import type { ServerContext } from "@modelcontextprotocol/server";
import { isRecord } from "../data/parse-json.ts";
import { CallStop, type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import type { InputRequest, InputRequests, InputRequired, InputRound } from "../runtime/handler-context.ts";
import { type AskInput, listRequests, settleAnswers } from "../runtime/input-rounds.ts";
import { badRequest, RpcError, rpcCode } from "./client-message.ts";

/** Seals what a call has to know when it is made again with answers. Clients can read it, but cannot change it. */
export interface StateSeal {
  /** `request`: what the state belongs to; another request cannot use it. */
  seal(request: unknown, state: unknown): Promise<string>;
  /** Rejects with `RpcError` for a state that is not of this seal and request, or too old. */
  open(request: unknown, sealed: string): Promise<unknown>;
}

/** How the client of a request is asked, and what a modern client has answered already. */
export interface Questions {
  /** Answers to what the request itself asked when it was made before. */
  round?: InputRound | undefined;
  signal: Cancellation;
  /** Rejects with an error for the caller if the client cannot be asked. */
  ask: AskInput;
}

/** Ends a request of a modern client with what it has to answer. */
export class AskedResult extends Error {
  override readonly name = "AskedResult";
  readonly result: object;

  constructor(result: object) {
    super("The client is asked first. The call is made again with the answers.");
    this.result = result;
  }
}

/** A request as MCP has it. `more`: what only legacy revisions have. */
function toMcp(request: InputRequest, more: object = {}) {
  if ("method" in request) return { method: request.method, params: { ...request.params } };
  const { message } = request;
  return {
    method: "elicitation/create" as const,
    params:
      "url" in request
        ? { mode: "url" as const, message, url: request.url, ...more }
        : { message, requestedSchema: { ...request.schema } },
  };
}

/** The capability that a client needs for a request, as `{ [capability]: members }`. */
function requiredFor(request: InputRequest): [capability: string, member: string | undefined] {
  if ("url" in request) return ["elicitation", "url"];
  if ("schema" in request) return ["elicitation", "form"];
  if (request.method === "roots/list") return ["roots", undefined];
  const { tools, toolChoice } = request.params ?? {};
  return ["sampling", tools === undefined && toolChoice === undefined ? undefined : "tools"];
}

/** What a client lacks for the requests, as its capabilities would say it; `undefined` if it lacks nothing. */
function findMissingCapabilities(requests: InputRequests, declared: unknown) {
  const missing: Record<string, Record<string, object>> = {};
  for (const request of Object.values(requests)) {
    const [capability, member] = requiredFor(request);
    const own = isRecord(declared) ? declared[capability] : undefined;
    // Before there were modes, there were only forms.
    const isImplied = member === undefined || (member === "form" && isRecord(own) && own.url === undefined);
    if (isRecord(own) && (isImplied || isRecord(own[member]))) continue;
    missing[capability] = { ...missing[capability], ...(member === undefined ? {} : { [member]: {} }) };
  }
  return Object.keys(missing).length === 0 ? undefined : missing;
}

/** The client of a legacy request: it is asked while the request waits. */
export interface LegacyClient {
  capabilities: unknown;
  /** Aborts when the request is canceled or the client has disconnected. */
  signal: AbortSignal;
  /** Sends a request to the client. Rejects if the client answers with an error, or not in time. */
  send(request: ReturnType<typeof toMcp>, signal: AbortSignal): Promise<unknown>;
}

/** Asks a legacy client, one question at a time. A question that it does not answer is canceled. */
export const createLegacyQuestions = ({ capabilities, signal, send }: LegacyClient): Questions => ({
  signal,
  async ask({ requests, signal }) {
    if (findMissingCapabilities(requests, capabilities) !== undefined)
      throw new Error(`The tool needs input, but this client cannot be asked. ${listRequests(requests)}`);
    const responses = new Map<string, unknown>();
    for (const [key, request] of Object.entries(requests)) {
      const sent = send(toMcp(request, { elicitationId: randomUUID() }), signal);
      responses.set(key, await sent.catch(() => ({ action: "cancel" })));
      signal.throwIfAborted();
    }
    return settleAnswers(requests, Object.fromEntries(responses));
  },
});

/** The sealed content of `requestState`. */
interface AskedState {
  name: string;
  asked: InputRequired;
  /** The last answers that others in the request got, which then asked no more or not again. */
  rounds: [name: string, round: InputRound][];
}

/** The name of what the request itself asks; others in it have longer ones. */
const outermost = "";

/**
 * Asks a modern client by ending its request: it makes the request again with the answers. What a tool asks that a handler
 * called ends the request, too, and cancels that handler; the handler then runs again, and so does the tool when it is
 * called again. `identity`: what sealed state belongs to. Rejects with `RpcError` for state that cannot be opened, and with the
 * signal's reason.
 */
export async function createModernQuestions(
  { signal: ended, inputResponses, droppedInputResponseKeys, requestState }: ServerContext["mcpReq"],
  capabilities: unknown,
  identity: unknown,
  seal: StateSeal,
): Promise<Questions> {
  const [notAnswer] = droppedInputResponseKeys ?? [];
  if (notAnswer !== undefined) throw badRequest(`params.inputResponses.${notAnswer} must be an object.`);
  const sealed = requestState<string>();
  // It may have been canceled before its session was open.
  ended.throwIfAborted();
  const stop = new CallStop();
  whenAborted(ended, () => stop.abort(ended.reason));
  const rounds = new Map<string, InputRound>();
  const seen = new Map<string, number>();
  /**
   * Answers to what the request itself has not asked yet, of a client that knows the questions, as the conformance suite
   * does. They answer nothing else, above all not whether a call may run.
   */
  let early = sealed === undefined ? inputResponses : undefined;
  if (sealed !== undefined) {
    const { name, asked, rounds: others } = (await seal.open(identity, sealed)) as AskedState;
    const { requests, ...state } = asked;
    for (const [other, round] of others) rounds.set(other, round);
    rounds.set(name, { input: await settleAnswers(requests, inputResponses ?? {}), ...state });
  }
  const end = (reason: Error): never => {
    stop.abort(reason);
    throw reason;
  };
  /** The same for the same question in each run of the request. */
  const nameOf = (question: object): string => {
    const json = JSON.stringify(question);
    const count = seen.get(json) ?? 0;
    seen.set(json, count + 1);
    return `${count} ${json}`;
  };
  return {
    round: rounds.get(outermost),
    signal: stop,
    async ask({ tool, requests, state, isOutermost = false, isWaiting = false, isApproval = false }) {
      const missing = findMissingCapabilities(requests, capabilities);
      if (isWaiting || (isApproval && missing !== undefined)) {
        const reason =
          "Its server asks in the middle of a call, and this client answers only with a new request.";
        throw new Error(`The tool needs input. ${reason} ${listRequests(requests)}`);
      }
      const name = isOutermost ? outermost : nameOf({ tool, requests });
      const round = isOutermost ? undefined : rounds.get(name);
      if (round !== undefined) return round.input;
      if (isOutermost && early !== undefined) {
        const input = await settleAnswers(requests, early);
        early = undefined;
        if (Object.keys(input).length > 0) {
          rounds.set(name, { input, state });
          seen.clear();
          return input;
        }
      }
      if (missing !== undefined) {
        const message = "The client did not declare a capability that this request needs to ask for input.";
        return end(new RpcError(message, rpcCode.capability, { requiredCapabilities: missing }));
      }
      rounds.delete(name);
      const asked: AskedState = { name, asked: { requests, state }, rounds: [...rounds] };
      const inputRequests = Object.entries(requests).map(([key, request]) => [key, toMcp(request)]);
      return end(
        new AskedResult({
          resultType: "input_required",
          inputRequests: Object.fromEntries(inputRequests),
          requestState: await seal.seal(identity, asked),
        }),
      );
    },
  };
}
