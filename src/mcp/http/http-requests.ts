import { stringifyExactly } from "../../data/exact-integers.ts";
import { type RequestId, rpcCode } from "../client-message.ts";
import type { Answer, RequestHead } from "./http-server.ts";

export interface HttpRequest {
  readonly head: RequestHead;
  /** The parsed JSON; `undefined` for a method without a body. */
  readonly message: unknown;
  /** Aborts when the answer is sent, or the client has disconnected. */
  readonly over: AbortSignal;
}

/** Headers that neither the protocol nor handlers may see. */
const secret = ["authorization", "cookie", "proxy-authorization"];

/** A request for the SDK, which gets its body as a parsed message. A client that accepts anything accepts what the protocol needs. */
export function toRequest({ method, headers: written }: RequestHead, signal?: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(written)) {
    if (secret.includes(name)) continue;
    for (const value of values) headers.append(name, value);
  }
  const accept = headers.get("accept");
  if (accept === null || accept.includes("*/*")) headers.set("accept", "application/json, text/event-stream");
  // The SDK requires a URL but does not use it.
  return new Request("http://localhost/mcp", { method, headers, signal: signal ?? null });
}

/** An error answer to an HTTP request, with the `id` of its JSON-RPC request if that is known. */
export const refuse = (
  status: number,
  message: string,
  {
    code = rpcCode.refused,
    id,
    headers,
  }: {
    code?: number;
    id?: RequestId | undefined;
    headers?: Readonly<Record<string, string>> | undefined;
  } = {},
): Answer => ({
  status,
  body: stringifyExactly({ jsonrpc: "2.0", error: { code, message }, id: id ?? null }),
  headers,
});
