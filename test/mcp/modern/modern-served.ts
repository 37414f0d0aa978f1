import type { ServedProtocol, ServedRequest } from "../../../src/mcp/served-server.ts";
import { type Cancellation, whenAborted } from "../../../src/runtime/abort-listeners.ts";
import { serveEras } from "../../../src/serve/serve-clients.ts";
import type { ServedServer } from "../../../src/serve/session-gateway.ts";

export const revision = "2026-07-28";
export const revisionKey = "io.modelcontextprotocol/protocolVersion";
export const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
export const clientKey = "io.modelcontextprotocol/clientInfo";
export const serverKey = "io.modelcontextprotocol/serverInfo";
export const logLevelKey = "io.modelcontextprotocol/logLevel";
export const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

/** `_meta` of a modern request. */
export const envelope = (more: object = {}): Record<string, unknown> => ({
  [revisionKey]: revision,
  [capabilitiesKey]: {},
  ...more,
});

export const modern = (method: string, params: object = {}, { id = 1, meta = {} as object } = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: envelope(meta) },
});

export const modernCall = (name: string, args: object = {}, more: { id?: number; meta?: object } = {}) =>
  modern("tools/call", { name, arguments: args }, more);

/** The headers that a modern request has to have, as its body says. */
export function headersFor(message: { method: string; params?: object }): Record<string, string> {
  const { name } = (message.params ?? {}) as { name?: unknown };
  return {
    "mcp-protocol-version": revision,
    "mcp-method": message.method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
}

/** A call of `slow` that has not ended, and how it ends. */
export interface SlowCall {
  readonly signal: Cancellation;
  finish(): void;
}

/** A call of a tool. */
type Call = ServedRequest & { arguments: Record<string, unknown> };

export interface Served extends ServedServer {
  /** Calls in their order. */
  requests: Call[];
  slowCalls: SlowCall[];
}

/** A server with tools for what the two eras treat differently. */
export function createServed(): Served {
  const requests: Call[] = [];
  const slowCalls: SlowCall[] = [];
  const text = (value: unknown) => [{ type: "text", text: JSON.stringify(value) ?? "" }];
  const tool = (name: string, call: (call: Call) => Promise<object> | object, more: object = {}) => ({
    listing: { name, inputSchema: { type: "object" }, ...more },
    call,
  });
  const tools = [
    tool("echo", ({ arguments: args }) => ({ content: text(args) })),
    tool("regional", ({ arguments: args }) => ({ content: text(args) }), {
      inputSchema: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          page: { type: "object", properties: { size: { type: "integer", "x-mcp-header": "Size" } } },
        },
      },
    }),
    tool("array", () => ({ content: text([1, 2]), structuredContent: [1, 2] }), {
      outputSchema: { type: "array" },
    }),
    tool("object", () => ({ content: text({ a: 1 }), structuredContent: { a: 1 } }), {
      outputSchema: { type: "object" },
    }),
    tool("logs", ({ log, progress }) => {
      log("debug", "fine");
      log("no such level", { n: 1 });
      progress(1, 2, "half");
      return { content: [] };
    }),
    tool("slow", async ({ signal, progress }) => {
      progress(1);
      await new Promise<void>((resolve) => {
        slowCalls.push({ signal, finish: resolve });
        whenAborted(signal, resolve);
      });
      return { content: text("slow") };
    }),
    tool("throws", () => {
      throw new Error("internals of the host");
    }),
  ];
  return {
    requests,
    slowCalls,
    info: { name: "test", version: "1.0.0" },
    instructions: "How to use it.",
    list: (key) => {
      if (key === "tools") return tools.map(({ listing }) => listing);
      return key === "prompts" ? [{ name: "greet", arguments: [{ name: "who", required: true }] }] : [];
    },
    findTool(name) {
      const found = tools.find(({ listing }) => listing.name === name);
      if (found === undefined) return undefined;
      return async (args, request) => {
        requests.push({ ...request, arguments: args });
        return (await found.call({ ...request, arguments: args })) as never;
      };
    },
    findPrompt: (name) =>
      name === "greet"
        ? {
            required: ["who"],
            get: async ({ who }) => ({
              messages: [{ role: "user", content: { type: "text", text: `Hello ${who}` } }],
            }),
          }
        : undefined,
    findResource: () => undefined,
    subscribe: undefined,
    complete: undefined,
    keepsResults: false,
    changing: undefined,
    report: () => {},
  };
}

/** How both eras are served. */
export const erasOf = (served: ServedServer, protocol: ServedProtocol = "both") =>
  serveEras({ legacy: () => served, modern: served }, { protocol, cacheTtl: 300, token: undefined });
