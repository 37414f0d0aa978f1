import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer as ModernMcpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { listen } from "./listen.ts";

/** A request that a server has received. */
export interface Received {
  http: string;
  headers: IncomingMessage["headers"];
  /** The JSON of the body; `undefined` for an empty one. */
  // biome-ignore lint/suspicious/noExplicitAny: any JSON-RPC message.
  message: any;
  /** Whether the client has closed the connection before the answer was complete. */
  isAborted: boolean;
}

export type Answer = (received: Received, request: IncomingMessage, response: ServerResponse) => unknown;

export interface RemoteServer {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The methods of JSON-RPC requests and notifications, in their order. */
  methods(): string[];
  /** Closes every connection. */
  drop(): void;
  /** Closes the port and every connection. */
  stop(): Promise<void>;
}

/** Serves HTTP on loopback until the end of the test. */
export async function serveHttp(answer: Answer, wanted = 0): Promise<RemoteServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const one: Received = {
      http: request.method ?? "",
      headers: request.headers,
      message: body === "" ? undefined : JSON.parse(body),
      isAborted: false,
    };
    received.push(one);
    response.on("close", () => {
      one.isAborted = !response.writableFinished;
    });
    await answer(one, request, response);
  });
  const { port, stop } = await listen(server, wanted);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    received,
    methods: () => received.flatMap(({ message }) => (message?.method === undefined ? [] : [message.method])),
    drop: () => server.closeAllConnections(),
    stop,
  };
}

export const sendJson = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

/** A call of `slow`, which ends only when it is canceled. */
interface SlowCalls {
  canceled: number;
}

type Registrar = Pick<McpServer, "registerTool" | "registerPrompt" | "registerResource">;

/** Gives a server of either SDK a prompt, a resource and a resource template. */
export function addPromptAndResources(server: Registrar): void {
  const argsSchema = { topic: z.string() };
  server.registerPrompt(
    "summarize",
    { title: "Summarize", description: "Summarizes a topic.", argsSchema: argsSchema as never },
    ((args: { topic: string }) => ({
      messages: [{ role: "user", content: { type: "text", text: `About ${args.topic}` } }],
    })) as never,
  );
  const read = async (uri: URL) => ({ contents: [{ uri: uri.href, text: `text of ${uri.href}` }] });
  server.registerResource("readme", "docs://readme", { mimeType: "text/markdown" }, read);
}

/** The tools of both SDKs' servers; their `registerTool` is the same. */
function addTools(server: Registrar, slow: SlowCalls): void {
  const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
  server.registerTool(
    "echo",
    { description: "Returns its arguments.", inputSchema: z.looseObject({ text: z.string().optional() }) },
    async (args, extra) => text({ args, meta: (extra as { _meta?: unknown })._meta ?? null }),
  );
  server.registerTool("fail", { description: "Fails." }, async () => ({ ...text("no"), isError: true }));
  server.registerTool("slow", { description: "Never ends." }, async (...all: unknown[]) => {
    const extra = all.at(-1) as { signal?: AbortSignal; mcpReq?: { signal: AbortSignal } };
    const signal = extra.signal ?? extra.mcpReq?.signal;
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
    slow.canceled += 1;
    return text("canceled");
  });
}

/** A stateful legacy server of the first SDK. `forget` loses its sessions, as a restart does. */
export async function serveLegacy(port = 0, add: (server: Registrar) => void = () => {}) {
  const slow: SlowCalls = { canceled: 0 };
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let latest: McpServer | undefined;
  const server = await serveHttp(async ({ headers, message }, request, response) => {
    const id = headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response, message);
    if (id !== undefined) return sendJson(response, 404, error(-32001, "Session not found"));
    if (message?.method !== "initialize") return sendJson(response, 400, error(-32000, "No session"));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    const mcp = new McpServer({ name: "legacy", version: "1.0.0" });
    addTools(mcp, slow);
    add(mcp);
    await mcp.connect(transport as never);
    latest = mcp;
    return transport.handleRequest(request, response, message);
  }, port);
  return {
    ...server,
    slow,
    sessions,
    forget: () => sessions.clear(),
    changeTools: () => latest?.sendToolListChanged(),
  };
}

/** A server of the second SDK. By default, it serves both eras. */
export async function serveModern({
  legacy,
  add = () => {},
}: {
  legacy?: "reject";
  add?: (server: Registrar) => void;
} = {}) {
  const slow: SlowCalls = { canceled: 0 };
  const handler = createMcpHandler(
    () => {
      const mcp = new ModernMcpServer({ name: "modern", version: "2.0.0" });
      addTools(mcp as unknown as Registrar, slow);
      add(mcp as unknown as Registrar);
      return mcp;
    },
    legacy === undefined ? {} : { legacy },
  );
  onTestFinished(() => handler.close());
  const server = await serveHttp(async ({ http, headers, message }, request, response) => {
    const abort = new AbortController();
    response.on("close", () => abort.abort());
    const answer = await handler.fetch(
      new Request(`http://${headers.host}${request.url}`, {
        method: http,
        headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
        ...(message === undefined ? {} : { body: JSON.stringify(message) }),
        signal: abort.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return response.end();
    return Readable.fromWeb(answer.body as WebStream)
      .on("error", () => response.destroy())
      .pipe(response);
  });
  return {
    ...server,
    slow,
    changeTools: () => handler.notify.toolsChanged(),
  };
}

const error = (code: number, message: string) => ({ jsonrpc: "2.0", id: null, error: { code, message } });

/** The answers of a legacy server without sessions to the requests of a start; `undefined` for others. */
export function answerStart({ message }: Received): object | undefined {
  const { id, method } = message ?? {};
  const result = (value: object) => ({ jsonrpc: "2.0", id, result: value });
  if (method === "initialize") {
    const serverInfo = { name: "raw", version: "1.0.0" };
    return result({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
  }
  return method === "tools/list"
    ? result({ tools: [{ name: "echo", inputSchema: { type: "object" } }] })
    : undefined;
}

/**
 * Serves a start as `answerStart` does, accepts notifications, and has no stream for GET; `answer` does the rest. Every
 * request has its own connection, so that the client notices at once when the server stops.
 */
export const serveRaw = (answer: Answer, port = 0): Promise<RemoteServer> =>
  serveHttp((received, request, response) => {
    response.setHeader("connection", "close");
    if (received.http === "GET" || received.http === "HEAD") return response.writeHead(405).end();
    if (received.http === "POST" && received.message.id === undefined) return response.writeHead(202).end();
    const start = answerStart(received);
    return start === undefined ? answer(received, request, response) : sendJson(response, 200, start);
  }, port);
