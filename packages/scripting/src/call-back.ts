import type { CallbackRequest, CallbackResponse, CallbackResult } from "./callback.ts";
import type { CallToolResult } from "./results.ts";

export interface CallbackTarget {
  baseUrl: string;
  token: string;
  sessionId: string;
  invocationId: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** The host refused a callback or did not answer it. Without a `status`, the tool may or may not have run. */
export class CallbackError extends Error {
  override readonly name = "CallbackError";
  /** The HTTP status if the host answered. */
  readonly status: number | undefined;

  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.status = options.status;
  }
}

/** The limit of an answer, in bytes. */
const largestAnswer = 64 * 1024 * 1024;
const loopback = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The URL of the endpoint. Only a host on this machine may get the token. */
function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL("/scripting/callback", baseUrl) : undefined;
  if (url?.protocol === "http:" && loopback.has(url.hostname)) return url;
  throw new CallbackError(`${JSON.stringify(baseUrl)} is not the URL of a host on this machine.`);
}

/** Uses `node:http`, because the environment can make `fetch` use a proxy. */
async function post(url: URL, body: string, { token, signal }: { token: string; signal: AbortSignal }) {
  const { request, Agent } = await import("node:http");
  const agent = new Agent();
  return await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const sent = request(url, { method: "POST", headers, agent, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > largestAnswer) sent.destroy(new Error("the answer is too large"));
        else chunks.push(chunk);
      });
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  }).finally(() => agent.destroy());
}

function readAnswer(text: string): CallbackResult | undefined {
  try {
    const { result } = JSON.parse(text) as Partial<CallbackResponse>;
    return typeof result === "object" && result !== null ? result : undefined;
  } catch {
    return undefined;
  }
}

function toCallToolResult(result: CallbackResult & { type: "call_tool_result" }): CallToolResult {
  const { success, text_content: text, error_message: failure, structured_content: structured } = result;
  if (!success) return { content: [{ type: "text", text: failure || text || "" }], isError: true };
  return {
    content: text ? [{ type: "text", text }] : [],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError: false,
  };
}

function writeArguments(args: Record<string, unknown>): string {
  const json: string | undefined = JSON.stringify(args);
  if (json?.startsWith("{")) return json;
  throw new TypeError("The arguments of a tool must be an object.");
}

/** Calls a tool of the session. Resolves with `isError` if the tool failed; rejects if it could not be called. */
export async function callBack(
  target: CallbackTarget,
  name: string,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  const { token, timeoutMs } = target;
  const message: CallbackRequest = {
    version: 1,
    session_id: target.sessionId,
    invocation_id: target.invocationId,
    action: { type: "call_tool", tool_name: name, arguments_json: writeArguments(args) },
  };
  const url = endpointOf(target.baseUrl);
  target.signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = target.signal === undefined ? timeout : AbortSignal.any([timeout, target.signal]);
  let answer: { status: number; text: string };
  try {
    answer = await post(url, JSON.stringify(message), { token, signal });
  } catch (cause) {
    if (target.signal?.aborted) throw target.signal.reason;
    const why = timeout.aborted ? `did not answer within ${timeoutMs} ms` : "cannot be reached";
    throw new CallbackError(`The Trailblaze host ${why}.`, { cause });
  }
  const result = readAnswer(answer.text);
  if (result?.type === "call_tool_result" && answer.status === 200) return toCallToolResult(result);
  const why = result?.type === "error" && typeof result.message === "string" ? `: ${result.message}` : ".";
  throw new CallbackError(`The Trailblaze host refused to call ${JSON.stringify(name)}${why}`, {
    status: answer.status,
  });
}
