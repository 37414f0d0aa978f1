import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { markIds, parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { formatSize } from "../problems/index.ts";
import type { ProcessLaunch, ProcessPort } from "../processes/process-port.ts";
import { LineDecoder } from "../runtime/line-decoder.mjs";
import { own } from "./client/incoming-message.ts";
import { nestsDeeper } from "./client/json-depth.ts";
import { cancelledIdOf, maximumDepth, methodOf, requestIdOf, rpcCode } from "./client-message.ts";
import type { ListPolicy } from "./known-lists.ts";
import type { ProtocolServer } from "./protocol-server.ts";
import { refuseRevision } from "./revisions.ts";
import { MessageGuard } from "./tool-guard.ts";

export interface ProxyLimits {
  /** The longest message of the server, in bytes. */
  messageBytes: number;
  /** How many bytes may wait until the server reads them; a single message may be larger. */
  waitingBytes: number;
}

const defaultLimits: ProxyLimits = { messageBytes: 32 << 20, waitingBytes: 32 << 20 };

/** How the server's process ends after its connection, in milliseconds. */
const endDurations = { inputMs: 5000, termMs: 2000 };

/** Maps progress tokens to requests: progress goes to the stream of its request. */
class ProgressRoutes {
  readonly #requests = new Map<unknown, RequestId>();

  onRequest(message: JSONRPCMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const meta = message.params?._meta;
    if (meta?.progressToken !== undefined) this.#requests.set(meta.progressToken, message.id as RequestId);
  }

  /** A request gets no progress after its answer. */
  onAnswer(message: Record<string, unknown>): void {
    if (own(message, "method") !== undefined) return;
    const id = own(message, "id");
    for (const [token, request] of this.#requests) if (request === id) this.#requests.delete(token);
  }

  /** The request that a notification of the server belongs to. */
  find(message: Record<string, unknown>): RequestId | undefined {
    const params = own(message, "params");
    if (own(message, "method") !== "notifications/progress" || !isRecord(params)) return undefined;
    return this.#requests.get(own(params, "progressToken"));
  }
}

/** Whether an answer is an error because the method is unknown. */
function isUnknownMethod(message: Record<string, unknown>): boolean {
  const error = own(message, "error");
  return isRecord(error) && own(error, "code") === rpcCode.method;
}

/**
 * A subprocess server behind a connection: its process lives as long as the connection, and every message is passed on
 * unchanged, except that a client learns what a server without `initialize` speaks, and nothing of what `policy` refuses. `onStderr` gets its stderr output, and why it could not start or was terminated.
 */
export function createProxyServer(
  label: string,
  launch: ProcessLaunch,
  processes: ProcessPort,
  onStderr: (chunk: Buffer) => void,
  { messageBytes, waitingBytes }: ProxyLimits = defaultLimits,
  policy?: ListPolicy,
): ProtocolServer {
  let connected: Transport | undefined;
  let child: ReturnType<ProcessPort["start"]> | undefined;
  let closing: Promise<void> | undefined;

  const close = (): Promise<void> => {
    closing ??= (async () => {
      await child?.end(endDurations);
      await connected?.close().catch(() => {});
    })();
    return closing;
  };

  return {
    close,
    async connect(transport) {
      connected = transport;
      const routes = new ProgressRoutes();
      /** Requests that are neither answered nor canceled. */
      const open = new Set<RequestId>();
      let initialize: { id: RequestId; requested: unknown } | undefined;
      const running = processes.start(launch);
      child = running;
      await running.started.catch((error: Error) => {
        // The client only gets a general error.
        onStderr(Buffer.from(`Server "${label}" failed to start: ${error.message}.\n`));
        throw error;
      });
      running.stdin.on("error", () => void close());
      running.stderr.on("data", onStderr);
      const answerFault = (id: RequestId, message: string) => {
        open.delete(id);
        const error = { code: rpcCode.internal, message };
        return transport.send({ jsonrpc: "2.0", id, error }).catch(() => {});
      };
      const breakOff = (what: string) => {
        running.stdout.destroy();
        onStderr(Buffer.from(`Server "${label}" was terminated because it ${what}.\n`));
        const answered = [...open].map((id) =>
          answerFault(id, `The server was terminated because it ${what}.`),
        );
        void Promise.all(answered).then(close);
      };
      const onLine = (line: Buffer) => {
        if (running.stdout.destroyed) return;
        if (nestsDeeper(line, maximumDepth)) {
          breakOff(`sent a message that is nested more than ${maximumDepth} levels deep`);
          return;
        }
        let message: unknown;
        try {
          message = markIds(parseExactly(line.toString()));
        } catch {
          return;
        }
        if (!isRecord(message) || own(message, "jsonrpc") !== "2.0") return;
        routes.onAnswer(message);
        if (initialize !== undefined && own(message, "id") === initialize.id && isUnknownMethod(message)) {
          const { id, requested } = initialize;
          open.delete(id);
          transport.send(refuseRevision(id, requested)).catch(() => {});
          return;
        }
        if (own(message, "method") === undefined) open.delete(own(message, "id") as RequestId);
        if (guard === undefined) deliver(message);
        else guard.fromServer(message);
      };
      const deliver = (message: Readonly<Record<string, unknown>>) => {
        const relatedRequestId = routes.find(message);
        const options = relatedRequestId === undefined ? {} : { relatedRequestId };
        // If the client has disconnected, `close` ends the process.
        transport.send(message as unknown as JSONRPCMessage, options).catch(() => {});
      };
      const decoder = new LineDecoder(messageBytes, {
        onLine,
        onTooLong: () => breakOff(`sent a message of more than ${formatSize(messageBytes)}`),
      });
      running.stdout.on("data", (chunk: Buffer) => {
        if (!running.stdout.destroyed) decoder.push(chunk);
      });
      void running.exited.then(() => close());
      const forward = (message: JSONRPCMessage) => {
        const line = `${stringifyExactly(message)}\n`;
        const id = requestIdOf(message);
        const waiting = running.stdin.writableLength;
        if (waiting > 0 && waiting + line.length > waitingBytes) {
          const limit = formatSize(waitingBytes);
          const fault = `The server does not read its input; at most ${limit} may wait for it.`;
          if (id !== undefined) void answerFault(id, fault);
          return;
        }
        if (id !== undefined) open.add(id);
        if (id !== undefined && methodOf(message) === "initialize") {
          const { params } = message as { params?: Record<string, unknown> };
          initialize = { id, requested: params?.protocolVersion };
        }
        const cancelled = cancelledIdOf(message);
        if (cancelled !== undefined) open.delete(cancelled);
        routes.onRequest(message);
        running.stdin.write(line);
      };
      const guard =
        policy &&
        new MessageGuard(policy, {
          toServer: (message) => forward(message as unknown as JSONRPCMessage),
          toClient: deliver,
          onRefused: () => void close(),
        });
      transport.onmessage = (message) => {
        if (guard === undefined) forward(message);
        else guard.fromClient(message as unknown as Record<string, unknown>);
      };
      transport.onclose = () => void close();
      transport.onerror = () => {};
      await transport.start();
    },
  };
}
