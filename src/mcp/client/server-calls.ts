import { printable } from "../../problems/index.ts";
import { timerMs, whenAborted } from "../../runtime/abort-listeners.ts";
import { AnswerError } from "./answer-error.ts";
import { readCallResult, readPromptResult, readResourceResult } from "./call-result.ts";
import { type ConnectedServer, ServerCallError, type ServerCallOptions } from "./connected-server.ts";
import { type JsonObject, own } from "./incoming-message.ts";
import type { McpClient } from "./mcp-client.ts";
import type { Redactor } from "./redact.ts";

const messageCharacters = 1000;

export interface ServerCalls extends Pick<ConnectedServer, "callTool" | "getPrompt" | "readResource"> {
  /** Passes a progress notification to its call. */
  onProgress(params: JsonObject): void;
}

/** A message that may be the server's: shortened and redacted. */
export const describeMessage = (message: string, redactor: Redactor): string =>
  [...redactor.redact(message)].slice(0, messageCharacters).join("");

/** The server's error as a reason: shortened, redacted, on one line. */
export function describeAnswer(error: AnswerError, redactor: Redactor): string {
  const message = describeMessage(error.message, redactor);
  return error.code === undefined
    ? message
    : `it answered with the error ${error.code}: ${printable(message)}`;
}

/** The log messages of a call that a modern server sends: all. Without this key of `_meta`, it sends none. */
const allLogs = { "io.modelcontextprotocol/logLevel": "debug" };

/** `findEnd` returns the error of calls after the server has ended. */
export function createServerCalls(
  client: McpClient,
  server: { redactor: Redactor; label: string; wantsLogs: boolean; findEnd(): ServerCallError | undefined },
): ServerCalls {
  const { redactor, label, findEnd } = server;
  const ownMeta = server.wantsLogs && client.era === "modern" ? allLogs : {};
  const listeners = new Map<number, NonNullable<ServerCallOptions["onProgress"]>>();
  let lastToken = 0;

  const fault = (reason: string) => new ServerCallError("protocol", `Server "${label}" failed: ${reason}`);

  /** Sends a request; `read` returns its result, or why it is invalid. */
  async function call<Result extends object>(
    method: string,
    { _meta, ...params }: { _meta?: JsonObject } & JsonObject,
    { signal, timeoutMs, onProgress }: ServerCallOptions,
    read: (result: JsonObject) => Result | { fault: string },
  ): Promise<Result> {
    signal?.throwIfAborted();
    const end = findEnd();
    if (end !== undefined) throw end;
    const token = ++lastToken;
    const { progressToken: _, ...meta } = _meta ?? {};
    if (onProgress !== undefined) {
      listeners.set(token, onProgress);
      meta.progressToken = token;
    }
    const request = client.request(method, { ...params, _meta: { ...ownMeta, ...meta } });
    let isLate = false;
    const onLate = () => {
      isLate = true;
      request.cancel(`no answer within ${timeoutMs} ms`);
    };
    const timer = setTimeout(onLate, timerMs(timeoutMs));
    const unlisten = signal === undefined ? undefined : whenAborted(signal, () => request.cancel("aborted"));
    try {
      const result = read(await request.answer);
      if ("fault" in result) throw fault(`it answered \`${method}\` with an invalid result: ${result.fault}`);
      return result;
    } catch (error) {
      if (error instanceof ServerCallError) throw error;
      if (isLate) {
        throw new ServerCallError("timeout", `Server "${label}" did not answer within ${timeoutMs} ms.`);
      }
      signal?.throwIfAborted();
      if (error instanceof AnswerError) throw fault(describeAnswer(error, redactor));
      throw findEnd() ?? fault(error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
      unlisten?.();
      listeners.delete(token);
    }
  }

  return {
    callTool: (params, options) =>
      call("tools/call", { ...params }, options, (result) => readCallResult(result, client.era)),
    getPrompt: (name, args, options) =>
      call("prompts/get", { name, arguments: args }, options, readPromptResult),
    readResource: (uri, options) => call("resources/read", { uri }, options, readResourceResult),
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
