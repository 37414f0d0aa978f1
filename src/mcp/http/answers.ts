import { stringifyExactly } from "../../data/exact-integers.ts";
import { type RequestId, rpcCode } from "../client-message.ts";
import type { Answer, Refusal } from "./http-answers.ts";

/** An error answer to an HTTP request, with the `id` of its JSON-RPC request if that is known. */
export const refusal = (
  status: number,
  message: string,
  {
    code = rpcCode.refused,
    id,
    headers,
  }: { code?: number; id?: RequestId | undefined; headers?: Readonly<Record<string, string>> } = {},
): Answer => ({
  status,
  body: stringifyExactly({ jsonrpc: "2.0", error: { code, message }, id: id ?? null }),
  ...(headers === undefined ? {} : { headers }),
});

export const noSession = (): Answer =>
  refusal(404, "Session not found or ended. Start a new one with `initialize`.", {
    code: rpcCode.noSession,
  });

/** The answer to a request that is invalid HTTP or exceeds a limit. */
export function transportRefusal(
  reason: Refusal,
  limits: { maxBodyBytes: number; bodyTimeoutMs: number },
): Answer {
  switch (reason) {
    case 400:
      return refusal(400, "The request is not valid HTTP/1.1.");
    case 405:
      return refusal(405, "Method not allowed. Use GET, POST or DELETE.", {
        headers: { allow: "GET, POST, DELETE" },
      });
    case 408:
      return refusal(
        408,
        `The request was not complete in time; the body must arrive within ${limits.bodyTimeoutMs} ms.`,
      );
    case 413:
      return refusal(413, `The body exceeds ${limits.maxBodyBytes} bytes.`);
    case 431:
      return refusal(431, "The headers are too large.");
    case 503:
      return refusal(503, "The server is shutting down.");
  }
}
