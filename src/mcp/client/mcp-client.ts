// The only module that uses the MCP SDK's client, for the handshake and for matching answers to requests. Processes,
// framing and validation of answers are our own.
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { timerMs } from "../../runtime/abort-listeners.ts";
import { hostVersion } from "../../version.ts";
import type { Incoming, JsonObject, Reply } from "./incoming-message.ts";
import { readInitializeResult } from "./initialize-result.ts";
import type { StdioChannel } from "./stdio-channel.ts";

/** An error answer, whose message is the server's, or an invalid answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  /** The code of the server's error; `undefined` for an invalid answer. */
  readonly code: number | undefined;
  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** Disables the SDK's timeouts: callers have their own. */
const never = timerMs(Number.POSITIVE_INFINITY);

/** Loads the SDK, which takes about 100 ms, so load it while processes start. */
export async function loadMcpClient() {
  const [{ Client }, { McpError, ResultSchema }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  return { Client, McpError, ResultSchema };
}

export type McpLibrary = Awaited<ReturnType<typeof loadMcpClient>>;

export interface OpenRequest {
  /**
   * Resolves with the result as the server sent it. Rejects with `AnswerError` for an error answer and after `cancel`,
   * with another error when the client is closed.
   */
  readonly answer: Promise<JsonObject>;
  /** Sends `notifications/cancelled` once, unless the request is already answered. */
  cancel(reason: string): void;
}

export interface McpClient {
  /** The handshake: `initialize` and `notifications/initialized`. */
  initialize(signal: AbortSignal): Promise<void>;
  readonly serverInfo: { name: string; version: string };
  readonly hasTools: boolean;
  request(method: string, params: JsonObject): OpenRequest;
  onReply(id: number, reply: Reply): void;
  onRequest(request: Extract<Incoming, { kind: "request" }>): void;
  /** Rejects all open requests. */
  close(): void;
}

const faultCode = -32603;

export function createMcpClient(
  { Client, McpError, ResultSchema }: McpLibrary,
  channel: StdioChannel,
): McpClient {
  // The SDK's own validator is not needed: answers are validated elsewhere.
  const noValidator = { getValidator: () => (input: unknown) => ({ valid: true, data: input }) as never };
  const client = new Client(
    { name: "trailblaze", version: hostVersion },
    { capabilities: {}, jsonSchemaValidator: noValidator as never },
  );
  let isReady = false;
  let lastId: unknown;
  const transport: Transport = {
    start: async () => {},
    send: async (message) => {
      if ("id" in message) lastId = message.id;
      channel.send(message);
    },
    close: async () => {},
  };
  const deliver = (message: unknown) => transport.onmessage?.(message as JSONRPCMessage);

  /** Settles a request with an error that is distinguishable from the SDK's own. */
  const reject = (id: number, data: AnswerError) =>
    deliver({ jsonrpc: "2.0", id, error: { code: faultCode, message: data.message, data } });

  async function answered<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      if (error instanceof McpError && error.data instanceof AnswerError) throw error.data;
      throw error;
    }
  }
  return {
    async initialize(signal) {
      await answered(client.connect(transport, { signal, timeout: never }));
      isReady = true;
    },
    get serverInfo() {
      const { name, version } = client.getServerVersion() ?? { name: "", version: "" };
      return { name, version };
    },
    get hasTools() {
      return client.getServerCapabilities()?.tools !== undefined;
    },
    request(method, params) {
      lastId = undefined;
      // The SDK can cancel, too, but it needs a signal per call, which costs more than the rest of the call.
      const answer = answered(client.request({ method, params }, ResultSchema, { timeout: never }));
      const id = lastId;
      return {
        answer: answer.then((envelope) => envelope.sealed as JsonObject),
        cancel(reason) {
          if (typeof id !== "number" || !channel.forget(id)) return;
          const jsonrpc = "2.0";
          channel.send({ jsonrpc, method: "notifications/cancelled", params: { requestId: id, reason } });
          reject(id, new AnswerError(reason));
        },
      };
    },
    onReply(id, reply) {
      if ("result" in reply) {
        // The SDK drops an answer that does not match its schemas, so the request would never settle. It therefore sees only
        // the envelope, and the validated keys of the handshake.
        const result = isReady ? { sealed: reply.result } : readInitializeResult(reply.result);
        if ("fault" in result) reject(id, new AnswerError(result.fault));
        else deliver({ jsonrpc: "2.0", id, result });
      } else {
        const isError = "error" in reply;
        reject(
          id,
          isError ? new AnswerError(reply.error.message, reply.error.code) : new AnswerError(reply.fault),
        );
      }
    },
    onRequest({ id, method, params }) {
      deliver({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    },
    close() {
      transport.onclose?.();
    },
  };
}
