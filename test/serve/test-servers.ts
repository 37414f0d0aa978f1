import { Server } from "@modelcontextprotocol/server";
import type { CreateProtocolServer, ProtocolServer } from "../../src/mcp/served-server.ts";

/** A call of `slow` that has not ended. */
export interface SlowCall {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  finish(): void;
}

export interface TestServers {
  create: CreateProtocolServer;
  /** Calls of `slow`, in the order they came, also when they are over. */
  slowCalls: SlowCall[];
  /** Ids of the connections whose server was made, and of those whose server was closed. */
  made: string[];
  closed: string[];
  /** Arguments of calls of `echo`. */
  echoed: unknown[];
}

const names = ["echo", "session", "slow", "progress", "headers"];

/** Small servers on the SDK's own, with a tool that answers and one that only ends when told to. */
export function createTestServers(): TestServers {
  const servers: TestServers = { create, slowCalls: [], made: [], closed: [], echoed: [] };

  function create(sessionId: string): ProtocolServer {
    servers.made.push(sessionId);
    const server = new Server(
      { name: "test", version: "1.0.0" },
      { capabilities: { tools: { listChanged: true }, logging: {} } },
    );
    server.setRequestHandler("tools/list", () => ({
      tools: names.map((name) => ({ name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq, http }) => {
      const text = (value: unknown) => ({
        content: [{ type: "text" as const, text: JSON.stringify(value) }],
      });
      const args = params.arguments;
      switch (params.name) {
        case "echo":
          servers.echoed.push(args);
          return text(args ?? {});
        case "session":
          return text(sessionId);
        case "headers":
          return text(Object.fromEntries(http?.req?.headers ?? []));
        case "progress":
          for (let progress = 1; progress <= 3; progress++) {
            const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress, total: 3 };
            await mcpReq.notify({ method: "notifications/progress", params });
          }
          return text("done");
        case "slow":
          await new Promise<void>((resolve) => {
            servers.slowCalls.push({ sessionId, signal: mcpReq.signal, finish: resolve });
            mcpReq.signal.addEventListener("abort", () => resolve());
          });
          return text("slow");
        default:
          throw new Error(`There is no tool ${params.name}`);
      }
    });
    server.onclose = () => void servers.closed.push(sessionId);
    return server;
  }

  return servers;
}
