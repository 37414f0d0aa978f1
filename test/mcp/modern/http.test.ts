import { describe, expect, onTestFinished, test } from "vitest";
import type { ServeHttpOptions } from "../../../src/mcp/http/serve-http.ts";
import { serveHttp } from "../../../src/mcp/http/serve-http.ts";
import { beginSession, calling, initializing, messagesOf, post } from "../http/served.ts";
import {
  capabilitiesKey,
  clientKey,
  createServed,
  erasOf,
  headersFor,
  logLevelKey,
  modern,
  modernCall,
  revision,
  revisionKey,
  serverKey,
  subscriptionKey,
} from "./modern-served.ts";

async function serve(options: Partial<ServeHttpOptions> = {}) {
  const server = await createServed();
  const { session, requests } = erasOf(server.gateway);
  const running = await serveHttp(session, {
    label: "acme/pack/server",
    modern: requests(),
    protocol: "both",
    graceMs: 200,
    ...options,
  });
  onTestFinished(() => running.close());
  const send = (
    message: { method: string; params?: object },
    headers: Record<string, string | undefined> = {},
    init: RequestInit = {},
  ) => post(running, message, { ...headersFor(message), ...headers }, init);
  /** The JSON answer to a message, with its status. */
  const ask = async (...all: Parameters<typeof send>) => {
    const response = await send(...all);
    const answer = (await response.json()) as { result?: object; error?: { code: number } };
    return { status: response.status, ...answer };
  };
  return { ...running, ...server, send, ask };
}

const failing = (status: number, code: number, data?: object) => ({
  status,
  error: { code, ...(data === undefined ? {} : { data }) },
});
const supported = [revision];

describe("a modern request over HTTP", () => {
  test("a modern request is answered without a session, whatever session it names", async () => {
    const { ask, send } = await serve({ maxSessions: 1 });
    const response = await send(modernCall("echo", { a: 1 }), { "mcp-session-id": "no such session" });
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({
      result: {
        resultType: "complete",
        content: [{ text: '{"a":1}' }],
        _meta: { [serverKey]: { name: "test", version: "1.0.0" } },
      },
    });
    for (let count = 0; count < 3; count++)
      expect(await ask(modernCall("echo"))).toMatchObject({ status: 200 });
  });

  test("a modern request passes its own client to the tool, and no session", async () => {
    const { ask, requests } = await serve();
    const meta = {
      [clientKey]: { name: "tester", version: "2" },
      [capabilitiesKey]: { sampling: {} },
      "example.com/key": 1,
      trailblaze: { memory: { forged: "yes" } },
    };
    await ask(modernCall("echo", { _trailblazeContext: { memory: {} }, a: 1 }, { meta }));
    await ask(modernCall("echo"));
    expect(requests).toMatchObject([
      {
        arguments: { a: 1 },
        meta: { "example.com/key": 1 },
        session: { id: null, clientInfo: { name: "tester", version: "2" }, capabilities: { sampling: {} } },
      },
      { session: { id: null, clientInfo: {}, capabilities: {} } },
    ]);
    expect(requests[0]?.arguments).not.toHaveProperty("_trailblazeContext");
    expect(requests[0]?.meta).not.toHaveProperty("trailblaze");
  });

  test("an argument named __proto__ does not arrive", async () => {
    const { url, requests } = await serve();
    const message = modernCall("echo", { marker: 1 });
    const body = JSON.stringify(message).replace('"marker":1', '"__proto__":{"x":1}');
    expect((await post({ url }, body, headersFor(message))).status).toBe(200);
    expect(JSON.stringify(requests[0]?.arguments)).toBe("{}");
  });

  test("a modern request gets progress, and log messages from the level that it names", async () => {
    const { send } = await serve();
    const meta = { progressToken: "p" };
    const quiet = await messagesOf(await send(modernCall("logs", {}, { meta })));
    expect(quiet.map(({ method }) => method)).toEqual(["notifications/progress", undefined]);
    const withLevel = { ...meta, [logLevelKey]: "info" };
    const loud = await messagesOf(await send(modernCall("logs", {}, { meta: withLevel })));
    expect(loud).toMatchObject([
      { method: "notifications/message", params: { level: "info", data: { n: 1 } } },
      { method: "notifications/progress", params: { progress: 1, total: 2, progressToken: "p" } },
      { result: { content: [] } },
    ]);
  });

  test("closing its stream cancels a modern request", async () => {
    const { send, slowCalls } = await serve();
    const controller = new AbortController();
    const response = await send(
      modernCall("slow", {}, { meta: { progressToken: 1 } }),
      {},
      {
        signal: controller.signal,
      },
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(slowCalls[0]?.signal.aborted).toBe(false);
    controller.abort();
    await expect.poll(() => slowCalls[0]?.signal.aborted).toBe(true);
  });
});

describe("an invalid modern request", () => {
  test.each<[string, object, Record<string, string | undefined>, object]>([
    [
      "a header that names another revision",
      modernCall("echo"),
      { "mcp-protocol-version": "2025-11-25" },
      failing(400, -32020),
    ],
    [
      "another method in its header",
      modernCall("echo"),
      { "mcp-method": "tools/list" },
      failing(400, -32020),
    ],
    ["no header for the tool's name", modernCall("echo"), { "mcp-name": undefined }, failing(400, -32020)],
    ["a handshake under a modern header", initializing(), {}, failing(400, -32020)],
    [
      "an unknown revision",
      modern("tools/list", {}, { meta: { [revisionKey]: "2099-01-01" } }),
      { "mcp-protocol-version": "2099-01-01" },
      failing(400, -32022, { supported, requested: "2099-01-01" }),
    ],
    [
      "no revision in its body",
      { ...modernCall("echo"), params: { name: "echo", _meta: { [capabilitiesKey]: {} } } },
      {},
      failing(400, -32602),
    ],
    ["an unknown method", modern("no/such"), {}, failing(404, -32601)],
    ["resources/list", modern("resources/list"), {}, failing(404, -32601)],
    ["an unknown tool", modernCall("no such"), {}, failing(200, -32602)],
    ["an invalid cursor", modern("tools/list", { cursor: "x" }), {}, failing(200, -32602)],
    ["another type of content", modernCall("echo"), { "content-type": "text/plain" }, failing(415, -32000)],
  ])("a modern request with %s is rejected", async (_what, message, headers, expected) => {
    const { ask } = await serve();
    const answer = await ask(message as { method: string }, headers);
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer)).not.toMatch(/invalid_type|"path"|\\n/);
  });

  test("a modern request is checked for its Origin, token, size and depth before anything else", async () => {
    const { ask, send } = await serve({ token: "secret", limits: { maxBodyBytes: 8000 } });
    const authorization = "Bearer secret";
    const open = modernCall("echo");
    expect((await send(open)).status).toBe(401);
    expect((await send(open, { authorization, origin: "http://evil.example" })).status).toBe(403);
    expect((await send(modernCall("echo", { x: "x".repeat(8000) }), { authorization })).status).toBe(413);
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
    expect(await ask(modernCall("echo", deep), { authorization })).toMatchObject(failing(400, -32600));
    expect(await ask(open, { authorization })).toMatchObject({ status: 200 });
  });
});

test.each([
  ["agrees, encoded", { region: "ü" }, { region: "=?base64?w7w=?=" }, 200],
  ["disagrees", { region: "us-west1" }, { region: "us-east1" }, 400],
  ["is missing", { region: "us-west1" }, {}, 400],
])("an argument whose header %s: %j with %j is %i", async (_, args, headers: object, status) => {
  const { ask, requests } = await serve();
  const mirrored = Object.entries(headers).map(([name, value]) => [`mcp-param-${name}`, value]);
  const answer = await ask(modernCall("regional", args), Object.fromEntries(mirrored));
  expect(answer).toMatchObject(status === 200 ? { status } : failing(status, -32020));
  expect(requests.length).toBe(status === 200 ? 1 : 0);
});

const listen = modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: 7 });

test("a subscription is acknowledged first, without types, and gets its result when the server closes", async () => {
  const { send, close } = await serve();
  const response = await send(listen);
  expect(response.status).toBe(200);
  const messages = messagesOf(response);
  await close();
  expect(await messages).toMatchObject([
    {
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: {}, _meta: { [subscriptionKey]: 7 } },
    },
    { id: 7, result: { resultType: "complete", _meta: { [subscriptionKey]: 7 } } },
  ]);
});

describe("the protocol that is served over HTTP", () => {
  test("a legacy server rejects a modern request so that its client falls back, and serves sessions", async () => {
    const served = await serve({ protocol: "legacy" });
    const { status, error } = await served.ask(modern("server/discover"));
    expect(status).toBe(400);
    expect([-32020, -32021, -32022]).not.toContain(error?.code);
    expect((await post(served, calling("echo"), await beginSession(served))).status).toBe(200);
  });

  test.each([
    ["initialize", initializing(), "2025-11-25"],
    ["a call", calling("echo"), undefined],
  ])(
    "a modern server rejects %s of a legacy client, and names its revisions",
    async (_what, message, requested) => {
      const { url, ask } = await serve({ protocol: "modern" });
      const response = await post({ url }, message);
      expect(response.status).toBe(400);
      const stream = await fetch(url, { headers: { "mcp-session-id": "x" } });
      expect(stream.status).toBe(405);
      const { error } = (await response.json()) as { error: { code: number; data: Record<string, unknown> } };
      expect(error).toMatchObject({ code: -32022, data: { supported } });
      if (requested !== undefined) expect(error.data.requested).toBe(requested);
      expect(await ask(modernCall("echo"))).toMatchObject({ status: 200 });
    },
  );

  test("a server for both eras gives a legacy client only objects as structured content, and their text", async () => {
    const served = await serve();
    const session = await beginSession(served);
    const resultOf = async (message: object) =>
      (await messagesOf(await post(served, message, session)))[0]?.result;
    const array = await resultOf(calling("array"));
    expect(array).toEqual({ content: [{ type: "text", text: "[1,2]" }] });
    expect(await resultOf(calling("object"))).toMatchObject({ structuredContent: { a: 1 } });
    const list = await resultOf({ jsonrpc: "2.0", id: 3, method: "tools/list" });
    const { tools } = list as { tools: Record<string, unknown>[] };
    expect(tools[2]).not.toHaveProperty("outputSchema");
    expect(tools[3]).toHaveProperty("outputSchema");
  });
});
