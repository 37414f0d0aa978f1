// How the questions of handlers reach the client of a request, in both eras of MCP.
import { randomUUID } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import { CallStop, type Cancellation, whenAborted } from "../runtime/abort-listeners.ts";
import {
  type InputRequest,
  type InputRequests,
  type InputRequired,
  type InputRound,
  mostRounds,
} from "../runtime/handler-context.ts";
import { describeRequests, settleAnswers } from "../runtime/input-rounds.ts";
import { RpcError, rpcCode } from "./client-message.ts";

/** Seals what a call has to know when it is made again with answers. Clients can read it, but cannot change it. */
export interface StateSeal {
  /** `request`: what the state belongs to; another request cannot use it. */
  seal(request: unknown, state: unknown): Promise<string>;
  /** Rejects with `RpcError` for a state that is not of this seal and request, or too old. */
  open(request: unknown, sealed: string): Promise<unknown>;
}

type Asking = { inputRequired: InputRequired };
/** Runs a handler. `round`: answers to what it asked before. */
type Run<Answer extends object> = (
  round: InputRound | undefined,
  signal: Cancellation,
) => Promise<Answer | Asking>;

/** The questions of one request of a client, including those of tools that its handler calls. */
export interface Questions {
  /** Whether a request stays open while its client is asked. */
  readonly canWait: boolean;
  /** Whether the client cannot answer some of the requests. */
  lacks(requests: InputRequests): boolean;
  /**
   * Runs a handler again from its beginning until it asks no more. Rejects as `run` does, with `UnaskedError` if the client
   * cannot be asked, and with the signal's reason when the request ends. `call` tells the calls inside a request apart;
   * `undefined` for the request's own handler.
   */
  answer<Answer extends object>(call: unknown, run: Run<Answer>): Promise<Answer>;
}

/** The questions of a handler cannot be asked. The message is for the caller. */
export class UnaskedError extends Error {
  override readonly name = "UnaskedError";
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

const asks = (answer: object): answer is Asking => "inputRequired" in answer;

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
  const { tools, toolChoice } = request.params;
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

/** What a handler gets of the results that a client sent for requests. */
const readResponses = (requests: InputRequests, responses: Readonly<Record<string, unknown>>) =>
  settleAnswers(
    requests,
    Object.fromEntries(
      Object.entries(responses).map(([key, content]) => {
        const isOfMethod = Object.hasOwn(requests, key) && "method" in (requests[key] as InputRequest);
        return [key, isOfMethod ? { action: "accept", content } : content];
      }),
    ),
  );

/** The client of a legacy request: it is asked while the request waits. */
export interface LegacyClient {
  capabilities: unknown;
  /** Aborts when the request is canceled or the client has disconnected. */
  signal: AbortSignal;
  /** Sends a request to the client. Rejects if the client answers with an error, or not in time. */
  send(request: ReturnType<typeof toMcp>): Promise<unknown>;
}

/** Asks a legacy client, one question at a time. A question that it does not answer is canceled. */
export function createLegacyQuestions({ capabilities, signal, send }: LegacyClient): Questions {
  const lacks = (requests: InputRequests) => findMissingCapabilities(requests, capabilities) !== undefined;
  const askOne = async (request: InputRequest): Promise<unknown> => {
    signal.throwIfAborted();
    try {
      return await send(toMcp(request, { elicitationId: randomUUID() }));
    } catch {
      signal.throwIfAborted();
      return { action: "cancel" };
    }
  };
  return {
    canWait: true,
    lacks,
    async answer(_call, run) {
      let round: InputRound | undefined;
      for (let rounds = 0; ; rounds++) {
        const answer = await run(round, signal);
        if (!asks(answer)) return answer;
        const { requests, ...state } = answer.inputRequired;
        if (lacks(requests)) throw new UnaskedError(describeRequests(requests));
        if (rounds === mostRounds)
          throw new UnaskedError(`The tool asked for input more than ${mostRounds} times.`);
        const responses: [string, unknown][] = [];
        for (const [key, request] of Object.entries(requests)) responses.push([key, await askOne(request)]);
        round = { input: await readResponses(requests, Object.fromEntries(responses)), ...state };
      }
    },
  };
}

/** The sealed content of `requestState`. */
interface AskedState {
  /** The call that asked, and what. */
  call: string;
  asked: InputRequired;
  /** The last answers that other calls of the request got, which then asked no more or not again. */
  rounds: [call: string, round: InputRound][];
}

/** A request of a modern client. */
export interface ModernRequest {
  /** What the sealed state belongs to. */
  identity: unknown;
  capabilities: unknown;
  signal: AbortSignal;
  inputResponses?: Readonly<Record<string, unknown>> | undefined;
  requestState: string | undefined;
}

/**
 * Asks a modern client by ending its request: it makes the request again with the answers. What a tool asks that a handler
 * called ends the request, too, and cancels that handler; the handler then runs again, and so does the tool when it is
 * called again.
 */
export function createModernQuestions(
  { identity, capabilities, signal: ended, inputResponses, requestState }: ModernRequest,
  seal: StateSeal,
): Questions {
  const stop = new CallStop();
  whenAborted(ended, () => stop.abort(ended.reason));
  const rounds = new Map<string, InputRound>();
  const seen = new Map<string, number>();
  /**
   * Answers to what the request's own handler has not asked yet, of a client that knows the questions, as the conformance suite
   * does. They answer nothing else, above all not whether a call may run.
   */
  let early = requestState === undefined ? inputResponses : undefined;
  let opening: Promise<void> | undefined;

  const open = async () => {
    if (requestState === undefined) return;
    const { call, asked, rounds: others } = (await seal.open(identity, requestState)) as AskedState;
    const { requests, ...state } = asked;
    for (const [other, round] of others) rounds.set(other, round);
    rounds.set(call, { input: await readResponses(requests, inputResponses ?? {}), ...state });
  };
  const end = (reason: Error): never => {
    stop.abort(reason);
    throw reason;
  };
  const ask = async (call: string, asked: InputRequired): Promise<never> => {
    const { requests } = asked;
    const missing = findMissingCapabilities(requests, capabilities);
    if (missing !== undefined) {
      const message = "The client did not declare a capability that this request needs to ask for input.";
      return end(new RpcError(rpcCode.capability, message, { requiredCapabilities: missing }));
    }
    rounds.delete(call);
    const state: AskedState = { call, asked, rounds: [...rounds] };
    return end(
      new AskedResult({
        resultType: "input_required",
        inputRequests: Object.fromEntries(
          Object.entries(requests).map(([key, request]) => [key, toMcp(request)]),
        ),
        requestState: await seal.seal(identity, state),
      }),
    );
  };
  /** The same for the same call in every run of the request's own handler. */
  const nameOf = (call: unknown): string => {
    if (call === undefined) return "";
    const json = JSON.stringify(call);
    const count = seen.get(json) ?? 0;
    seen.set(json, count + 1);
    return `${count} ${json}`;
  };

  return {
    canWait: false,
    lacks: (requests) => findMissingCapabilities(requests, capabilities) !== undefined,
    async answer(call, run) {
      if (call === undefined) opening = open();
      await opening;
      const name = nameOf(call);
      const runOnce = () => {
        if (call === undefined) seen.clear();
        return run(rounds.get(name), stop);
      };
      let answer = await runOnce();
      if (call === undefined && asks(answer) && early !== undefined) {
        const { requests, ...state } = answer.inputRequired;
        const input = await readResponses(requests, early);
        early = undefined;
        if (Object.keys(input).length > 0) {
          rounds.set(name, { input, ...state });
          answer = await runOnce();
        }
      }
      return asks(answer) ? ask(name, answer.inputRequired) : answer;
    },
  };
}
