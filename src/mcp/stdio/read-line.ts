import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { isMessage, parseMessage, type RequestId, requestIdOf, rpcCode } from "../client-message.ts";

/** What a line of input holds: a message, a request that only an error can answer, or nothing to answer. */
export type ReadLine =
  | { message: JSONRPCMessage }
  | { refused: { id: RequestId; error: { code: number; message: string } } }
  | undefined;

/** The id of a request that is JSON but cannot be handled. */
function findId(line: Buffer): RequestId | undefined {
  try {
    return requestIdOf(JSON.parse(line.toString()));
  } catch {
    return undefined;
  }
}

export function readLine(line: Buffer): ReadLine {
  const parsed = parseMessage(line);
  if ("value" in parsed && isMessage(parsed.value)) return { message: parsed.value };
  const id = "value" in parsed ? requestIdOf(parsed.value) : findId(line);
  if (id === undefined) return undefined;
  const [code, message] =
    "fault" in parsed
      ? [parsed.code, parsed.fault]
      : [rpcCode.request, "The message is not valid JSON-RPC 2.0."];
  return { refused: { id, error: { code, message } } };
}
