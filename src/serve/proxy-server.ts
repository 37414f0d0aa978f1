import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { ProcessLaunch, ProcessPort } from "../io/process-port.ts";
import { isObject, own } from "../session/servers/incoming-message.ts";
import { createLineReader } from "../session/servers/line-reader.ts";
import type { ProtocolServer } from "./protocol-server.ts";

const maximumLineBytes = 32 << 20;

/** How a server's process is ended when its connection is over, in milliseconds. */
const endDurations = { inputMs: 5000, termMs: 2000 };

/** Which requests asked for progress, so that it can go where their answer goes. */
class ProgressRoutes {
  readonly #requests = new Map<unknown, RequestId>();

  onRequest(message: JSONRPCMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const meta = message.params?._meta;
    if (meta?.progressToken !== undefined) this.#requests.set(meta.progressToken, message.id as RequestId);
  }

  /** Nothing comes for a request after its answer. */
  onAnswer(message: Record<string, unknown>): void {
    if (own(message, "method") !== undefined) return;
    const id = own(message, "id");
    for (const [token, request] of this.#requests) if (request === id) this.#requests.delete(token);
  }

  /** The request that a notification of the server belongs to. */
  find(message: Record<string, unknown>): RequestId | undefined {
    const params = own(message, "params");
    if (own(message, "method") !== "notifications/progress" || !isObject(params)) return undefined;
    return this.#requests.get(own(params, "progressToken"));
  }
}

/**
 * A subprocess server behind a connection: its process starts with the connection and ends with it, and every message
 * is passed on as it is. `onNoise` gets lines on its stdout that are no messages, `onStderr` what it writes there.
 */
export function createProxyServer(
  label: string,
  launch: ProcessLaunch,
  processes: ProcessPort,
  onStderr: (chunk: Buffer) => void,
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
      const running = processes.start(launch);
      child = running;
      await running.started.catch((error: Error) => {
        // The client learns only that the server failed.
        onStderr(Buffer.from(`The server ${label} does not start: ${error.message}\n`));
        throw error;
      });
      running.stdin.on("error", () => void close());
      running.stderr.on("data", onStderr);
      const reader = createLineReader(maximumLineBytes, (line) => {
        let message: unknown;
        try {
          message = JSON.parse(line.toString());
        } catch {
          return;
        }
        if (!isObject(message) || own(message, "jsonrpc") !== "2.0") return;
        routes.onAnswer(message);
        const relatedRequestId = routes.find(message);
        const options = relatedRequestId === undefined ? {} : { relatedRequestId };
        // A client that is gone takes no messages, and its process will be told by `close`.
        transport.send(message as unknown as JSONRPCMessage, options).catch(() => {});
      });
      running.stdout.on("data", (chunk: Buffer) => {
        if (!reader.push(chunk)) void close();
      });
      void running.exited.then(() => close());
      transport.onmessage = (message) => {
        routes.onRequest(message);
        running.stdin.write(`${JSON.stringify(message)}\n`);
      };
      transport.onclose = () => void close();
      transport.onerror = () => {};
      await transport.start();
    },
  };
}
