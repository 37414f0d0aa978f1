import type { BuiltInDefinition } from "../../../src/config/session-config.ts";
import type { ServedProtocol } from "../../../src/mcp/served-server.ts";
import { whenAborted } from "../../../src/runtime/abort-listeners.ts";
import type { HandlerContext } from "../../../src/runtime/handler-context.ts";
import { type ClientOptions, serveEras } from "../../../src/serve/serve-clients.ts";
import { type ClientRequest, SessionGateway } from "../../../src/serve/session-gateway.ts";
import { makeProject, openForTest } from "../../session/support/session.ts";

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
  readonly signal: AbortSignal;
  finish(): void;
}

/** What the session gets of a call. */
type Call = { arguments: Record<string, unknown> } & NonNullable<ClientRequest["scope"]["request"]>;

/** Notes each call. */
class TestGateway extends SessionGateway {
  readonly requests: Call[] = [];
  override get instructions() {
    return "How to use it.";
  }

  // As a modern server may list it.
  override list(...use: Parameters<SessionGateway["list"]>) {
    return super
      .list(...use)
      .map((one) => (one.name === "array" ? { ...one, outputSchema: { type: "array" } } : one));
  }

  override callTool(...use: Parameters<SessionGateway["callTool"]>) {
    const [, , args, { scope }] = use;
    this.requests.push({ arguments: args, ...(scope.request as NonNullable<typeof scope.request>) });
    return super.callTool(...use);
  }
}

/** A server with tools for what the two eras treat differently. */
export async function createServed() {
  const slowCalls: SlowCall[] = [];
  const text = (value: unknown) => [{ type: "text", text: JSON.stringify(value) ?? "" }];
  const tool = (
    name: string,
    handler: (args: object, context: HandlerContext) => unknown,
    more: object = {},
  ) => ({ name, description: name, inputSchema: { type: "object" }, handler, ...more }) as BuiltInDefinition;
  const builtIns = [
    tool("echo", (args) => ({ content: text(args) })),
    tool("regional", (args) => ({ content: text(args) }), {
      inputSchema: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          page: { type: "object", properties: { size: { type: "integer", "x-mcp-header": "Size" } } },
        },
      },
    }),
    tool("array", () => ({ content: text([1, 2]), structuredContent: [1, 2] })),
    tool("object", () => ({ content: text({ a: 1 }), structuredContent: { a: 1 } }), {
      outputSchema: { type: "object" },
    }),
    tool("logs", (_, { log, progress }) => {
      log("debug", "fine");
      log("no such level" as never, { n: 1 });
      progress(1, 2, "half");
      return { content: [] };
    }),
    tool("slow", async (_, { signal, progress }) => {
      progress(1);
      await new Promise<void>((finish) => {
        slowCalls.push({ signal, finish });
        whenAborted(signal, finish);
      });
      return { content: text("slow") };
    }),
  ];
  const session = await openForTest(makeProject({}), { builtIns });
  const options = { info: { name: "test", version: "1.0.0" }, isComposed: true };
  const gateway = new TestGateway(Promise.resolve(session), () => {}, options);
  await gateway.opened;
  return { gateway, requests: gateway.requests, slowCalls };
}

/** How both eras are served. */
export const erasOf = (
  gateway: SessionGateway,
  protocol: ServedProtocol = "both",
  more: Partial<ClientOptions> = {},
) => serveEras(gateway, { protocol, cacheTtl: 300, token: undefined, ...more });
