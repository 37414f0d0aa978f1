import { rpcCode } from "./client-message.ts";

/** A JSON-RPC error with exactly this message. Both SDKs send the `code` and `data` of any error. */
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
