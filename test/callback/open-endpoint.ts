import { onTestFinished } from "vitest";
import {
  type CallbackCall,
  type CallbackEndpoint,
  type CallbackOptions,
  type Invocation,
  openCallbackEndpoint,
} from "../../src/callback/callback-endpoint.ts";

export const sessionId = "session-1";
export const invocationId = "invocation-1";

export interface OpenedEndpoint {
  endpoint: CallbackEndpoint;
  /** Of the server "api", whose invocation `invocationId` runs. */
  token: string;
  /** What was dispatched, in order. */
  calls: CallbackCall[];
  /** Begins another invocation, until the returned function is called. */
  begin(id: string, server?: string, ofSession?: string): () => void;
  /** Ends the invocation. */
  end: () => void;
}

interface Changes {
  limits?: Partial<CallbackOptions["limits"]>;
  dispatch?: Invocation["callTool"];
}

/** An endpoint with small limits, one server and one invocation; closed when the test ends. */
export async function openEndpoint(changes: Changes = {}): Promise<OpenedEndpoint> {
  const calls: CallbackCall[] = [];
  const { dispatch = async () => ({ variant: "Success", message: "done" }) } = changes;
  const invocations = new Map<string, Invocation>();
  const endpoint = await openCallbackEndpoint({
    sessionId,
    limits: {
      enabled: true,
      timeoutMs: 60_000,
      maxDepth: 16,
      maxBodyBytes: 4096,
      bodyTimeoutMs: 60_000,
      ...changes.limits,
    },
    findInvocation: (id) => invocations.get(id),
  });
  onTestFinished(() => endpoint.close());
  const token = endpoint.issueToken("api");
  const callTool = (call: CallbackCall) => {
    calls.push(call);
    return dispatch(call);
  };
  const begin: OpenedEndpoint["begin"] = (id, server = "api", ofSession = sessionId) => {
    const ended = new AbortController();
    invocations.set(id, { server, sessionId: ofSession, ended: ended.signal, callTool });
    return () => {
      invocations.delete(id);
      ended.abort();
    };
  };
  return { endpoint, token, calls, begin, end: begin(invocationId) };
}

/** The body of a callback, with changes. */
export const createRequest = (
  changes: Record<string, unknown> = {},
  action: Record<string, unknown> = {},
) => ({
  version: 1,
  session_id: sessionId,
  invocation_id: invocationId,
  action: { type: "call_tool", tool_name: "greet", arguments_json: "{}", ...action },
  ...changes,
});

/** Posts a body as a well-behaved server does. A header of `undefined` is left out. */
export function post(
  { endpoint, token }: Pick<OpenedEndpoint, "endpoint" | "token">,
  body: unknown = createRequest(),
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${endpoint.baseUrl}/scripting/callback`, {
    method: "POST",
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    ...init,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers },
  });
}

/** The result in the answer to a callback. */
export async function resultOf(response: Response): Promise<Record<string, unknown>> {
  const { result } = (await response.json()) as { result: Record<string, unknown> };
  return result;
}

/** The result of a call that failed. */
export const failedWith = (error_message: unknown) => ({
  type: "call_tool_result",
  success: false,
  text_content: "",
  error_message,
});

/** The head of a valid request, up to the empty line; a header of `undefined` is left out, of a list repeated. */
export function formatHead(
  { endpoint, token }: Pick<OpenedEndpoint, "endpoint" | "token">,
  headers: Record<string, string | readonly string[] | undefined> = {},
  line = "POST /scripting/callback HTTP/1.1",
): string {
  const all = {
    Host: `127.0.0.1:${endpoint.port}`,
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `${line}\r\n${lines.join("")}\r\n`;
}

/** A whole request with its body's length. */
export function formatRequest(
  opened: Pick<OpenedEndpoint, "endpoint" | "token">,
  body: unknown,
  headers: Record<string, string | readonly string[] | undefined> = {},
): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return `${formatHead(opened, { "Content-Length": String(Buffer.byteLength(text)), ...headers })}${text}`;
}
