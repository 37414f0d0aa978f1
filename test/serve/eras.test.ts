import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/serve.ts";
import { initializing, post } from "../mcp/http/served.ts";
import { headersFor, modern, revision } from "../mcp/modern/modern-served.ts";
import { makeProject, probeServer, toolPack } from "../session/support/session.ts";
import { connectLegacy, connectModern, serveForTest } from "../support/clients.ts";
import { inRepository } from "../support/repository.ts";

const script = inRepository("dist/cli/cli.cjs");
const handlers = `
export const echo = (args) => JSON.stringify(args);
export const list = () => ({ content: [{ type: "text", text: "one, two" }], structuredContent: ["one", "two"] });
`;
const seen = {
  kind: "Mcp.Tools",
  metadata: { name: "seen" },
  entries: [
    {
      name: "seen",
      handler: "./handlers.js#echo",
      inputs: { id: "${{ request.session.id }}", client: "${{ request.session.clientInfo.name }}" },
    },
  ],
};
/** A server that refuses legacy clients. */
const lateServer = `
  import { Server } from ${JSON.stringify(import.meta.resolve("@modelcontextprotocol/server"))};
  import { serveStdio } from ${JSON.stringify(import.meta.resolve("@modelcontextprotocol/server/stdio"))};
  const createServer = () => {
    const server = new Server({ name: "late", version: "3.0.0" }, { capabilities: { tools: {} } });
    const inputSchema = { type: "object" };
    server.setRequestHandler("tools/list", () => ({ tools: [{ name: "ask", inputSchema }] }));
    server.setRequestHandler("tools/call", async (_request, { mcpReq: { inputResponses, requestState } }) => {
      const params = { message: "Who?", requestedSchema: { type: "object", properties: {} } };
      const inputRequests = { who: { method: "elicitation/create", params } };
      return inputResponses === undefined
        ? { resultType: "input_required", inputRequests, requestState: "s" }
        : { content: [{ type: "text", text: JSON.stringify([inputResponses, requestState()]) }] };
    });
    return server;
  };
  serveStdio(createServer, { legacy: "reject" });
`;

const desk = toolPack({ echo: {}, list: {} }, handlers, {
  "package.json": {
    trailblaze: {
      tools: ["echo", "list"],
      toolsets: ["seen"],
      servers: ["desk", "modern", "wrong", "process", "late"],
    },
  },
  "trailblaze/toolsets/seen.json": seen,
  "trailblaze/servers/desk.json": { tools: ["echo", "list"], toolsets: ["seen"] },
  "trailblaze/servers/modern.json": { tools: ["echo"], protocol: "modern" },
  "trailblaze/servers/wrong.json": { tools: ["echo"], protocol: "auto" },
  "trailblaze/servers/process.json": { script: "./process.js" },
  "trailblaze/servers/late.json": { script: "./late.mjs" },
  "late.mjs": lateServer,
  "process.js": `import ${JSON.stringify(probeServer)};\n`,
});
const config = (more: object) => ({ "trailblaze.config.json": more });
const makeDesk = (more = {}) => makeProject({ "@acme/desk": desk }, more);

const info = { name: "tester", version: "1.0.0" };

/** What a client of either SDK sees. */
async function look(client: {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: object }): Promise<object>;
  close(): Promise<void>;
}) {
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  const call = async (name: string) =>
    (await client.callTool({ name, arguments: {} })) as {
      content: { text: string }[];
      structuredContent?: unknown;
    };
  const list = await call("list");
  return {
    tools: tools.map(({ name }) => name),
    session: JSON.parse((await call("seen")).content[0]?.text ?? "") as unknown,
    structured: list.structuredContent,
    text: list.content[0]?.text,
  };
}

const processOf = (cwd: string) => ({
  command: process.execPath,
  args: [script, "start", "acme/desk/desk"],
  cwd,
  stderr: "ignore" as const,
});

async function lookAsLegacy(transport: LegacyStdio | LegacyHttp) {
  const client = new LegacyClient(info);
  await client.connect(transport);
  return look(client as never);
}

async function lookWith(
  mode: "auto" | "legacy" | { pin: string },
  transport: StdioClientTransport | StreamableHTTPClientTransport,
) {
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { revision: client.getNegotiatedProtocolVersion(), ...(await look(client as never)) };
}

const all = { tools: ["echo", "list", "seen"], text: "one, two" };
const asModern = {
  ...all,
  revision,
  session: { id: null, client: "tester" },
  structured: ["one", "two"],
};
const asLegacy = { ...all, session: { id: expect.any(String), client: "tester" }, structured: undefined };

describe("a server for both eras of MCP", () => {
  test("a server for both eras serves modern and legacy clients of both versions over HTTP", async () => {
    const { url } = await serveForTest("acme/desk/desk", { cwd: makeDesk() });
    const http = () => new StreamableHTTPClientTransport(new URL(url));
    expect(await lookWith("auto", http())).toEqual(asModern);
    expect(await lookWith({ pin: revision }, http())).toEqual(asModern);
    expect(await lookAsLegacy(new LegacyHttp(new URL(url)))).toMatchObject(asLegacy);
    expect(await lookWith("legacy", http())).toMatchObject(asLegacy);
  });

  test("a server for both eras serves modern and legacy clients of both versions over stdio", async () => {
    const cwd = makeDesk();
    expect(await lookWith("auto", new StdioClientTransport(processOf(cwd)))).toEqual(asModern);
    expect(await lookAsLegacy(new LegacyStdio(processOf(cwd)))).toMatchObject(asLegacy);
  });
});

/** Whether a served server takes clients of each era, by the codes of its errors. */
async function takenBy(url: string): Promise<string> {
  const ask = async (message: { method: string; params?: object }, headers = {}) =>
    (await post({ url }, message, headers)).ok;
  const discover = modern("server/discover");
  const taken = [
    (await ask(discover, headersFor(discover))) ? "modern" : "",
    (await ask(initializing())) ? "legacy" : "",
  ];
  return taken.join(" ").trim();
}

describe("the option --protocol", () => {
  const servers = {
    own: { tools: ["acme/desk/echo"], protocol: "legacy" },
  };
  const http = { transport: { port: 0 } } as const;

  test.each([
    ["acme/desk/modern", undefined, "modern"],
    ["acme/desk/modern", "both", "modern legacy"],
    ["own", undefined, "legacy"],
  ] as const)("the protocol of %s with the option %s is %s", async (server, protocol, expected) => {
    const options = protocol === undefined ? {} : { protocol };
    const running = await startServer(server, { cwd: makeDesk(config({ servers })), ...http, ...options });
    onTestFinished(() => running.close());
    expect(await takenBy(running.url ?? "")).toBe(expected);
  });

  test.each([
    [{ protocol: "auto" }, "acme/desk/desk", "InvalidArguments"],
    [{ cacheTtl: 1e13 }, "acme/desk/desk", "InvalidArguments"],
    [{ transport: "http" }, "acme/desk/desk", "InvalidArguments"],
    [{ transport: { sessionTtl: 0 } }, "acme/desk/desk", "InvalidArguments"],
    [{ transport: { maxSessions: Number.NaN } }, "acme/desk/desk", "InvalidArguments"],
    [{}, "acme/desk/wrong", "InvalidServerDefinition"],
    [{ config: { servers: { own: { tools: [], protocol: "auto" } } } }, "own", "InvalidConfig"],
    [{ protocol: "legacy", transport: "stdio" }, "acme/desk/process", "InvalidArguments"],
  ])("an option that cannot be served is rejected: %j of %s", async (options, server, code) => {
    const starting = startServer(server, { cwd: makeDesk(), ...http, ...(options as object) });
    await expect(starting).rejects.toMatchObject({ code });
  });

  test("lists of modern clients may be kept as long as the option says, privately with a token", async () => {
    const discover = modern("server/discover");
    for (const [options, expected] of [
      [{}, { ttlMs: 300_000, cacheScope: "public" }],
      [
        { cacheTtl: 0, transport: { port: 0, token: "t" } },
        { ttlMs: 0, cacheScope: "private" },
      ],
    ] as const) {
      const running = await startServer("acme/desk/desk", { cwd: makeDesk(), ...http, ...options });
      onTestFinished(() => running.close());
      const headers = { ...headersFor(discover), authorization: "Bearer t" };
      const response = await post({ url: running.url ?? "" }, discover, headers);
      expect(await response.json()).toMatchObject({ result: expected });
    }
  });
});

describe("a subprocess server over HTTP", () => {
  const serveLate = (server = "acme/desk/late") => serveForTest(server, { cwd: makeDesk() });
  const connect = ({ url }: { url: string }, capabilities = {}) => connectModern(url, capabilities);

  test("what a modern subprocess server asks reaches the client, and the answer reaches the server", async () => {
    const serving = await serveLate();
    const client = await connect(serving, { elicitation: {} });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
    const { content } = await client.callTool({ name: "ask", arguments: {} });
    const text = JSON.stringify([{ who: { action: "accept", content: { name: "Ada" } } }, "s"]);
    expect(content).toEqual([{ type: "text", text }]);
    const silent = await connect(serving);
    await expect(silent.callTool({ name: "ask", arguments: {} })).rejects.toMatchObject({ code: -32021 });
  });

  test.each(["process", "late"])(
    "the subprocess server %s over HTTP has clients of both eras, whatever its own",
    async (name) => {
      const { url } = await serveLate(`acme/desk/${name}`);
      expect(await takenBy(url)).toBe("modern legacy");
      const { tools } = await (await connectLegacy(url)).listTools();
      expect(tools.length).toBeGreaterThan(0);
      const names = (await (await connectModern(url)).listTools()).tools.map((tool) => tool.name);
      expect(names).toEqual(tools.map((tool) => tool.name));
    },
  );
});
