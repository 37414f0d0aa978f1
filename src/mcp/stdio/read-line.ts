import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import {
  isMessage,
  methodOf,
  noBatches,
  parseMessage,
  type RequestId,
  requestIdOf,
  rpcCode,
} from "../client-message.ts";

/** A parsed line of input. */
export type ReadLine =
  | { kind: "nothing" }
  | { kind: "message"; message: JSONRPCMessage }
  | { kind: "malformed"; answer: ErrorAnswer };

export interface ErrorAnswer {
  jsonrpc: "2.0";
  id: RequestId | null;
  error: { code: number; message: string };
}

const malformed = (code: number, message: string, id: RequestId | null): ReadLine => ({
  kind: "malformed",
  answer: { jsonrpc: "2.0", id, error: { code, message } },
});

const isBlank = (line: Buffer) => line.every((byte) => byte === 0x20 || byte === 0x09);

export function readLine(line: Buffer): ReadLine {
  if (isBlank(line)) return { kind: "nothing" };
  const parsed = parseMessage(line);
  if ("fault" in parsed) return malformed(parsed.code, parsed.fault, parsed.id ?? null);
  const { value } = parsed;
  if (isMessage(value)) return { kind: "message", message: value };
  // Broken answers get no answer: otherwise two sides could answer each other endlessly.
  const isAnswer =
    methodOf(value) === undefined &&
    typeof value === "object" &&
    value !== null &&
    ("result" in value || "error" in value);
  if (isAnswer) return { kind: "nothing" };
  const what = Array.isArray(value) ? noBatches : "The message is not valid JSON-RPC 2.0.";
  return malformed(rpcCode.request, what, requestIdOf(value) ?? null);
}
