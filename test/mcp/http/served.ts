import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import type { ServeHttpOptions } from "../../../src/mcp/http/serve-http.ts";
import { serveHttp } from "../../../src/mcp/http/serve-http.ts";
import { createTestServers, type TestServers } from "../../serve/test-servers.ts";

export interface Served extends TestServers {
  url: string;
  port: number;
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

/** For tests of what legacy clients get. */
export const legacyOnly = {
  label: "acme/pack/server",
  protocol: "legacy",
  modern: { answer: async () => new Response(), close: async () => {} },
} as const;

/** Serves test servers on a free port of loopback until the test ends. */
export async function serve(options: Partial<ServeHttpOptions> = {}): Promise<Served> {
  const servers = createTestServers();
  const served = await serveHttp(servers.create, { ...legacyOnly, graceMs: 200, ...options });
  onTestFinished(() => served.close());
  return { ...servers, ...served, port: Number(new URL(served.url).port) };
}

export const initializing = (id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
});

export const calling = (name: string, id: unknown = 2, args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

export const usual = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** Posts a message, or the text of one. A header of `undefined` is left out. */
export function post(
  { url }: { url: string },
  message: unknown,
  headers: Record<string, string | undefined> = {},
  init: RequestInit = {},
): Promise<Response> {
  const all = Object.entries({ ...usual, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return fetch(url, { method: "POST", headers: all, body, ...init });
}

/** The messages of an answer's event stream, read to its end. */
export async function messagesOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

/** Begins a session and gives the header that names it. */
export async function beginSession(
  served: { url: string },
  headers: Record<string, string> = {},
): Promise<{ "mcp-session-id": string }> {
  const response = await post(served, initializing(), headers);
  await response.text();
  const id = response.headers.get("mcp-session-id");
  if (id === null) throw new Error(`There is no session: ${response.status}`);
  return { "mcp-session-id": id };
}

/** A client of the SDK, which is closed when the test ends. */
export async function connectClient(
  { url }: { url: string },
  headers: Record<string, string> = {},
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, transport };
}

export const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content[0]?.text ?? "";
