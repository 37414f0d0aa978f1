import { nestsDeeper } from "./client/json-depth.ts";
import { findRequestId, type RequestId } from "./find-request-id.ts";

export type { RequestId } from "./find-request-id.ts";

/** Codes of JSON-RPC, and those that the SDK's transport uses. */
export const rpcCode = {
  parse: -32700,
  request: -32600,
  params: -32602,
  internal: -32603,
  refused: -32000,
  noSession: -32001,
} as const;

export const noBatches = "Batches are not supported.";

/** Levels of arrays and objects in a message. */
export const maximumDepth = 512;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of a client's JSON text, or what is wrong with it, and the id of a request that nests too deep. */
export function parseMessage(
  text: Uint8Array,
): { value: unknown } | { code: number; fault: string; id?: RequestId } {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  if (nestsDeeper(bytes, maximumDepth)) {
    const id = findRequestId(bytes);
    return {
      code: rpcCode.request,
      fault: `The message nests deeper than ${maximumDepth} levels.`,
      ...(id === undefined ? {} : { id }),
    };
  }
  try {
    return { value: JSON.parse(utf8.decode(text)) };
  } catch {
    return { code: rpcCode.parse, fault: "The message is not JSON." };
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

/** The id of a request; `undefined` for anything else. */
export const requestIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === undefined ? undefined : asId(own(message, "id"));

/** The request that a message cancels. */
export const cancelledIdOf = (message: unknown): RequestId | undefined =>
  methodOf(message) === "notifications/cancelled"
    ? asId(own(own(message, "params"), "requestId"))
    : undefined;
