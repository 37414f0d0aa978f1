import { carryIntegers } from "../../data/exact-integers.ts";
import { isRecord } from "../../data/parse-json.ts";
import { printable, quote } from "../../problems/index.ts";
import { CallStop, whenAborted } from "../../runtime/abort-listeners.ts";
import { mostRounds } from "../../runtime/handler-context.ts";
import { notifyHost } from "../../runtime/late-errors.ts";
import type { ResultMethod } from "../../runtime/mcp-shapes.ts";
import { OpenEntries } from "../../runtime/open-entries.ts";
import { rpcCode } from "../client-message.ts";
import { AnswerError } from "./answer-error.ts";
import { noteLeftOut, type Results, readResult } from "./call-result.ts";
import {
  type ConnectedServer,
  type ResultFault,
  type ServerAnswer,
  type ServerCall,
  ServerCallError,
  type ServerCallOptions,
  type ServerLog,
} from "./connected-server.ts";
import { type JsonObject, own } from "./incoming-message.ts";
import type { McpClient, ServerRequest } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";

const messageCharacters = 1000;

export interface ServerCalls
  extends Pick<ConnectedServer, "callTool" | "getPrompt" | "readResource" | "complete"> {
  /** Passes a progress notification to its call. */
  onProgress(params: JsonObject): void;
  /** Passes a log message to the call of a modern request, or to all calls if it names none. */
  onLog(entry: ServerLog, requestId: unknown): void;
  /** Answers a request of the server; `undefined` for an unknown method. */
  answer(request: ServerRequest): Promise<JsonObject> | undefined;
}

/** A call that a legacy server has not answered. */
interface OpenCall {
  id: number;
  ask: ServerCallOptions["ask"];
  questions: number;
  isAsking: boolean;
  /** Aborted when the call has ended. */
  ended: CallStop;
}

/** A message that may be the server's: shortened and redacted. */
export const describeMessage = (message: string, redactor: Redactor): string =>
  [...redactor.redact(message)].slice(0, messageCharacters).join("");

/** The server's error as a reason: shortened, redacted, on one line. */
export function describeAnswer(error: AnswerError, redactor: Redactor, method?: string): string {
  const message = describeMessage(error.message, redactor);
  if (error.code === undefined) return message;
  const request = method === undefined ? "" : ` \`${method}\``;
  const supported = isRecord(error.data) ? own(error.data, "supported") : undefined;
  // An error about the protocol version names those that the server knows.
  const known = Array.isArray(supported)
    ? supported.filter((one) => typeof one === "string").slice(0, 10)
    : [];
  const more =
    known.length === 0
      ? ""
      : ` (it supports ${printable(describeMessage(known.join(", "), redactor).slice(0, 200))})`;
  return `it answered${request} with the error ${error.code}: ${printable(message)}${more}`;
}

/** What a modern server wants that this client does not have; `undefined` for another error. */
function describeMissing({ code, data }: AnswerError): string | undefined {
  const required = isRecord(data) ? own(data, "requiredCapabilities") : undefined;
  if (code !== rpcCode.capability || !isRecord(required)) return undefined;
  const names = Object.entries(required).map(([name, value]) =>
    [name, ...(isRecord(value) ? Object.keys(value) : [])].join("."),
  );
  return `the tool needs what this session does not offer: ${quote(names.join(", "), 200)}`;
}

/** The log messages of a call that a modern server sends: all. Without this key of `_meta`, it sends none. */
const allLogs = { "io.modelcontextprotocol/logLevel": "debug" };

/** The result of a call that asks. */
const emptyResult = () => ({ content: [], messages: [], contents: [], completion: { values: [] } });

/** What the server gets as the error of a question. */
const refuse = (message: string) => new AnswerError(message, rpcCode.request);

/** `findEnd` returns the error of calls after the server has ended. */
export function createServerCalls(
  client: McpClient,
  server: {
    redactor: Redactor;
    label: string;
    wantsLogs: boolean;
    suggests: boolean;
    onLeftOut(fault: ResultFault): void;
    findEnd(): ServerCallError | undefined;
  },
): ServerCalls {
  const { redactor, label, findEnd } = server;
  const isModern = client.era === "modern";
  const logListeners = new Map<number, NonNullable<ServerCallOptions["onLog"]>>();
  const listeners = new Map<number, NonNullable<ServerCallOptions["onProgress"]>>();
  const openCalls = new OpenEntries<number, OpenCall>();
  /** The users of the calls that the server has worked for since it was last idle. */
  const users = new Set<unknown>();
  let working = 0;
  let lastToken = 0;

  const fault = (reason: string, cause?: AnswerError) =>
    new ServerCallError("protocol", `Server "${label}" failed: ${reason}`, undefined, { cause });

  async function call<Method extends ResultMethod>(
    method: Method,
    params: Readonly<JsonObject> | ServerCall,
    { signal, limit, onProgress, onLog, ask, user, round }: ServerCallOptions,
  ): Promise<ServerAnswer<Results[Method]>> {
    const leaveOut = noteLeftOut(method, { ...params }, (fault) => notifyHost(() => server.onLeftOut(fault)));
    signal?.throwIfAborted();
    const end = findEnd();
    if (end !== undefined) throw end;
    const token = ++lastToken;
    const wantsLogs = isModern && (server.wantsLogs || onLog !== undefined);
    const given = params._meta as JsonObject | undefined;
    const meta: JsonObject = wantsLogs ? { ...allLogs, ...given } : { ...given };
    if ("progressToken" in meta) delete meta.progressToken;
    if (onProgress !== undefined) {
      listeners.set(token, onProgress);
      meta.progressToken = token;
    }
    const answers = round && (await import("./server-questions.ts")).toRoundParams(round);
    const sent = { ...params, ...answers, _meta: meta };
    working += 1;
    if (user !== undefined) users.add(user);
    const onReleased = () => {
      working -= 1;
      if (working === 0) users.clear();
    };
    const request = client.request(method, sent, { resultTypes: ["input_required"], onReleased });
    if (onLog !== undefined) logListeners.set(request.id, onLog);
    const ended = new CallStop();
    const open = { id: request.id, ask, questions: 0, isAsking: false, ended };
    openCalls.add(open);
    const { onOver } = limit;
    limit.onOver = () => request.cancel(`no answer within ${limit.ms} ms`);
    const unlisten = signal === undefined ? undefined : whenAborted(signal, () => request.cancel("aborted"));
    try {
      const answer = await request.answer;
      const asks = isModern && own(answer, "resultType") === "input_required";
      const asked = asks ? await (await import("./server-questions.ts")).readInputRequired(answer) : {};
      const result = readResult(method, asks ? emptyResult() : answer, leaveOut);
      const found = "fault" in asked ? asked : result;
      if ("fault" in found) {
        const reason = describeMessage(String(found.fault), redactor);
        throw fault(`it answered \`${method}\` with an invalid result: ${reason}`);
      }
      return carryIntegers(found, { ...found, ...asked });
    } catch (error) {
      if (error instanceof ServerCallError) throw error;
      if (limit.isOver) {
        throw new ServerCallError("timeout", `Server "${label}" did not answer within ${limit.ms} ms.`);
      }
      signal?.throwIfAborted();
      if (error instanceof AnswerError)
        throw fault(describeMissing(error) ?? describeAnswer(error, redactor), error);
      throw findEnd() ?? fault(error instanceof Error ? error.message : String(error));
    } finally {
      limit.onOver = onOver;
      unlisten?.();
      listeners.delete(token);
      logListeners.delete(request.id);
      openCalls.remove(request.id);
      ended.abort(undefined);
    }
  }

  /**
   * The call that a question belongs to. On stdio it names none: it goes to the oldest call that asks nothing yet, if the
   * server has worked for one user alone since it was last idle.
   */
  function findAsking(requestId: unknown): OpenCall {
    const open = openCalls.all();
    const named = open.find(({ id }) => id === requestId);
    if (named === undefined && users.size > 1)
      throw refuse("The server works for several users, and the request does not say which it belongs to.");
    const asking = named ?? open.find((one) => !one.isAsking);
    if (asking?.ask === undefined) throw refuse("Only a call that is open can ask the user.");
    return asking;
  }

  async function elicit({ params, requestId, signal }: ServerRequest): Promise<JsonObject> {
    const { readElicitation, toElicitResult } = await import("./server-questions.ts");
    const call = findAsking(requestId);
    if (call.questions === mostRounds) throw refuse(`A call can ask at most ${mostRounds} times.`);
    call.questions += 1;
    call.isAsking = true;
    try {
      const read = await readElicitation(params);
      if ("fault" in read) throw new AnswerError(`Invalid request: ${read.fault}`, rpcCode.params);
      const stop = AbortSignal.any([signal, call.ended.signal]);
      const answers = await call.ask?.({ input: read.request }, stop);
      return toElicitResult(answers?.input ?? { action: "cancel" });
    } finally {
      call.isAsking = false;
    }
  }

  return {
    callTool: (params, options) => call("tools/call", params, options),
    getPrompt: (name, args, options) => call("prompts/get", { name, arguments: args }, options),
    readResource: (uri, options) => call("resources/read", { uri }, options),
    complete: async (request, options) => {
      if (!server.suggests) return { values: [] };
      return (await call("completion/complete", { ...request }, options)).completion;
    },
    answer: (request) => (request.method === "elicitation/create" ? elicit(request) : undefined),
    onLog(entry, requestId) {
      if (isModern && requestId !== undefined) logListeners.get(requestId as number)?.(entry);
      // What names no call may belong to the call of any user.
      else if (users.size <= 1) for (const listener of logListeners.values()) listener(entry);
    },
    onProgress(params) {
      const token = own(params, "progressToken");
      const progress = own(params, "progress");
      const listener = typeof token === "number" ? listeners.get(token) : undefined;
      if (listener === undefined || typeof progress !== "number") return;
      const total = own(params, "total");
      const message = own(params, "message");
      listener({
        progress,
        ...(typeof total === "number" ? { total } : {}),
        ...(typeof message === "string" ? { message } : {}),
      });
    },
  };
}
