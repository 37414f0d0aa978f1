import { markIds, parseExactly } from "../data/exact-integers.ts";
import { nestsDeeper } from "./client/json-depth.ts";

export type RequestId = string | number;

/** Error codes of JSON-RPC, and those that the SDK's transport uses. */
export const rpcCode = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  refused: -32000,
  noSession: -32001,
  /** Of modern revisions: the client did not declare a capability. */
  capability: -32021,
} as const;

/** A JSON-RPC error with exactly this message. The SDK sends the `code` and `data` of any error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const badRequest = (message: string) => new RpcError(rpcCode.params, message);

export const noBatches = "Batches are not supported.";

/** How many arrays and objects of a message may be nested. */
export const maximumDepth = 512;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of a client's JSON text. What is nested too deeply is not parsed, because that would take seconds. */
export function parseMessage(text: Uint8Array): { value: unknown } | { code: number; fault: string } {
  if (nestsDeeper(Buffer.from(text.buffer, text.byteOffset, text.byteLength), maximumDepth)) {
    const fault = `The message is nested more than ${maximumDepth} levels deep.`;
    return { code: rpcCode.request, fault };
  }
  try {
    return { value: markIds(parseExactly(utf8.decode(text))) };
  } catch {
    return { code: rpcCode.parse, fault: "The message is not valid JSON." };
  }
}

const own = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

const asId = (id: unknown): RequestId | undefined =>
  typeof id === "string" || typeof id === "number" ? id : undefined;

export const methodOf = (message: unknown): string | undefined => {
  const method = own(message, "method");
  return typeof method === "string" ? method : undefined;
};

/** The id of a request; `undefined` for other messages. */
export const requestIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === undefined ? undefined : asId(own(message, "id"));

/** The id of the request that a message cancels. */
export const cancelledIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === "notifications/cancelled"
    ? asId(own(own(message, "params"), "requestId"))
    : undefined;

/** The id of the `subscriptions/listen` request that a message acknowledges. */
export const subscriptionOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === "notifications/subscriptions/acknowledged"
    ? asId(own(own(own(message, "params"), "_meta"), "io.modelcontextprotocol/subscriptionId"))
    : undefined;
