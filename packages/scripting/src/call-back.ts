import type { CallToolResult } from "./result.ts";

// The callback of a subprocess server to its host during a call: `POST {baseUrl}/scripting/callback` with
// `Content-Type: application/json` and `Authorization: Bearer <token>`, the token from TRAILBLAZE_SESSION_TOKEN.
// Version 1, with keys in snake case. A status other than 200 means that the request is invalid or not allowed; all
// other failures are in the response.

/** The answer to a callback: the outcome of a call, or why the host refused the request. */
type Answer =
  | {
      type: "call_tool_result";
      /** False if the tool failed, does not exist, timed out, was nested too deeply, or got invalid arguments. */
      success: boolean;
      /** The first text block, otherwise "". */
      text_content: string;
      /** Why the call failed, otherwise "". */
      error_message: string;
      structured_content?: { [key: string]: unknown };
    }
  | { type: "error"; message: string };

/** Where a callback goes, and for which call. */
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

/** The URL of the endpoint. Only a host on this machine may get the token. */
function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL("/scripting/callback", baseUrl) : undefined;
  if (url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) return url;
  throw new CallbackError(`${JSON.stringify(baseUrl)} is not the URL of a host on this machine.`);
}

/** Uses `node:http` with an agent of its own, because the environment can make others use a proxy. */
async function post(url: URL, body: string, { token, signal }: { token: string; signal: AbortSignal }) {
  const [{ Agent, request }, { text }] = await Promise.all([
    import("node:http"),
    import("node:stream/consumers"),
  ]);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const agent = new Agent();
  try {
    return await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      request(url, { method: "POST", headers, agent, signal }, (response) => {
        text(response).then((text) => resolve({ status: response.statusCode, text }), reject);
      })
        .on("error", reject)
        .end(body);
    });
  } finally {
    agent.destroy();
  }
}

function readAnswer(text: string): Answer | undefined {
  try {
    return (JSON.parse(text) as { result: Answer }).result;
  } catch {
    return undefined;
  }
}

/** Calls a tool of the session. Resolves with `isError` if the tool failed; rejects if it could not be called. */
export async function callBack(
  { baseUrl, token, sessionId, invocationId, timeoutMs, signal: given }: CallbackTarget,
  name: string,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  const json: string | undefined = JSON.stringify(args);
  if (!json?.startsWith("{")) throw new TypeError("The arguments of a tool must be an object.");
  const message = {
    version: 1,
    session_id: sessionId,
    invocation_id: invocationId,
    action: { type: "call_tool", tool_name: name, arguments_json: json },
  };
  const url = endpointOf(baseUrl);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = given === undefined ? timeout : AbortSignal.any([timeout, given]);
  const answer = await post(url, JSON.stringify(message), { token, signal }).catch((cause: unknown) => {
    given?.throwIfAborted();
    const why = timeout.aborted ? `did not answer within ${timeoutMs} ms` : "cannot be reached";
    throw new CallbackError(`The Trailblaze host ${why}.`, { cause });
  });
  const result = readAnswer(answer.text);
  if (result?.type !== "call_tool_result" || answer.status !== 200) {
    const why = result?.type === "error" ? `: ${result.message}` : ".";
    const { status } = answer;
    throw new CallbackError(`The Trailblaze host refused to call ${JSON.stringify(name)}${why}`, { status });
  }
  const { success, text_content: text, error_message: failure, structured_content: structured } = result;
  if (!success) return { content: [{ type: "text", text: failure || text }], isError: true };
  return {
    content: text ? [{ type: "text", text }] : [],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError: false,
  };
}
