// The one place that knows the MCP SDK's client. It does the handshake and pairs answers with requests; processes,
// framing and what answers may look like are ours.
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { timerMs } from "../../runtime/abort-listeners.ts";
import { hostVersion } from "../../version.ts";
import type { Incoming, JsonObject, Reply } from "./incoming-message.ts";
import { readInitializeResult } from "./initialize-result.ts";
import type { StdioChannel } from "./stdio-channel.ts";

/** An answer that is an error, or none that can be read. Its message is the server's in the first case. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  /** The error's code, if it is the server's. */
  readonly code: number | undefined;
  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** The SDK sets no limits of its own: callers keep theirs. */
const never = timerMs(Number.POSITIVE_INFINITY);

/** Loads the SDK, which takes about 100 ms: do it while processes boot. */
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
   * Resolves with the result as the server sent it. Rejects with `AnswerError` for an error and when it is cancelled,
   * with something else when the client is closed.
   */
  readonly answer: Promise<JsonObject>;
  /** Sends `notifications/cancelled`, unless there is an answer already, or it was sent before. */
  cancel(reason: string): void;
}

export interface McpClient {
  /** Handshake: `initialize` and `notifications/initialized`. */
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
  // Answers are not checked against tools' schemas here, so the SDK need not set up its own checker.
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

  /** Settles a request with an error that can be told from those that the SDK makes. */
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
      // The SDK could cancel, too, but with a signal for each call, which costs more than all the rest of it.
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
        // The SDK drops an answer that its schemas do not like, and its request then never settles; of the handshake it
        // reports its schemas' own words. So it sees only the envelope, and what was checked of the handshake.
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
