import { type RequestId, rpcCode } from "../client-message.ts";
import type { Answer, TransportFault } from "./http-answers.ts";

/** An answer to an HTTP request that comes to nothing; with the `id` of the JSON-RPC request in it, where that is known. */
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
  body: JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: id ?? null }),
  ...(headers === undefined ? {} : { headers }),
});

export const noSession = (): Answer =>
  refusal(404, "There is no such session, or it is over. Begin a new one with `initialize`.", {
    code: rpcCode.noSession,
  });

/** What is wrong with a request as HTTP. */
export function transportRefusal(
  fault: TransportFault,
  limits: { maxBodyBytes: number; bodyTimeoutMs: number },
): Answer {
  switch (fault) {
    case 400:
      return refusal(400, "This is not HTTP/1.1.");
    case 405:
      return refusal(405, "Only GET, POST and DELETE are understood here.", {
        headers: { allow: "GET, POST, DELETE" },
      });
    case 408:
      return refusal(
        408,
        `The request was not complete in time; a body may take ${limits.bodyTimeoutMs} ms.`,
      );
    case 413:
      return refusal(413, `The body is larger than ${limits.maxBodyBytes} bytes.`);
    case 431:
      return refusal(431, "The headers are too large.");
    case "busy":
      return refusal(503, "There are too many requests under way; try again later.", {
        headers: { "retry-after": "10" },
      });
    case 503:
      return refusal(503, "The server is closing.");
  }
}
