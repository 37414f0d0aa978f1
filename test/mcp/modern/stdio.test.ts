import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ServedProtocol } from "../../../src/mcp/served-server.ts";
import { type ServeStdioOptions, serveStdio } from "../../../src/mcp/stdio/serve-stdio.ts";
import { calling, initializing } from "../http/served.ts";
import {
  capabilitiesKey,
  createServed,
  erasOf,
  modern,
  modernCall,
  revision,
  revisionKey,
  serverKey,
  subscriptionKey,
} from "./modern-served.ts";

interface Message {
  id?: unknown;
  method?: string;
  error?: { code: number; message: string; data?: unknown };
  result?: Record<string, unknown>;
}

async function serve({
  protocol,
  ...options
}: Partial<ServeStdioOptions> & { protocol?: ServedProtocol } = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = await createServed();
  const { connection } = erasOf(server.gateway, protocol);
  let text = "";
  output.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  let ends = 0;
  const running = await serveStdio(connection(), {
    input,
    output,
    graceMs: 60_000,
    onEnd: () => void ends++,
    ...options,
  });
  onTestFinished(() => running.close());
  const messages = (): Message[] =>
    text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const say = (...lines: unknown[]) => {
    for (const line of lines) input.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  };
  const find = (id: unknown) =>
    messages().find((message) => message.id === id && message.method === undefined);
  /** The answer to a request. */
  const ask = async (message: { id?: unknown }): Promise<Message | undefined> => {
    say(message);
    await expect.poll(() => find(message.id)).toBeDefined();
    return find(message.id);
  };
  return { ...running, ...server, input, ends: () => ends, messages, say, ask, find };
}

const discover = (id = 100) => modern("server/discover", {}, { id });
const versionError = (requested: string) => ({
  error: { code: -32022, data: { supported: [revision], requested } },
});

describe("the first request over stdio selects the era", () => {
  test("after a first request with a revision, the client is served as modern", async () => {
    const { ask, requests } = await serve();
    expect(await ask(modernCall("array", {}, { id: 1 }))).toMatchObject({
      result: { resultType: "complete", structuredContent: [1, 2], _meta: { [serverKey]: { name: "test" } } },
    });
    expect(requests[0]?.session).toEqual({ id: null, clientInfo: {}, capabilities: {} });
  });

  test("after a first request without a revision, the client is served as legacy, whatever it claims later", async () => {
    const { ask, requests } = await serve();
    expect(await ask(initializing(1))).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    const answer = await ask(modernCall("array", {}, { id: 2 }));
    expect(answer?.result).toEqual({ content: [{ type: "text", text: "[1,2]" }] });
    expect(requests[0]?.session.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await ask(discover(3))).toMatchObject({ error: { code: -32601 } });
  });

  test("server/discover does not select the era: initialize is still accepted", async () => {
    const { ask } = await serve();
    expect(await ask(discover(1))).toMatchObject({ result: { supportedVersions: [revision] } });
    expect(await ask(discover(2))).toMatchObject({ result: { instructions: "How to use it." } });
    expect(await ask(initializing(3))).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    expect(await ask(calling("echo", 4))).toMatchObject({ result: { content: [{ text: "{}" }] } });
    expect(await ask(discover(5))).toMatchObject({ error: { code: -32601 } });
  });

  test("a first request with an unknown revision is rejected with the known ones", async () => {
    const { ask } = await serve();
    const unknown = modern("tools/list", {}, { id: 1, meta: { [revisionKey]: "2099-01-01" } });
    expect(await ask(unknown)).toMatchObject(versionError("2099-01-01"));
    expect(await ask(initializing(2))).toMatchObject(versionError("2025-11-25"));
    expect(await ask(modernCall("echo", {}, { id: 3 }))).toMatchObject({
      result: { resultType: "complete" },
    });
  });

  test.each([
    ["initialize", { protocolVersion: 5 }, "protocolVersion"],
    ["logging/setLevel", { level: "loud" }, "level"],
    ["logging/setLevel", undefined, "level"],
    ["tools/call", { name: 5 }, "name"],
    [
      "completion/complete",
      { context: { arguments: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`a${i}`, i])) } },
      "ref",
    ],
  ])("invalid params of %s of a legacy client are told, but not all of them", async (method, params, key) => {
    const { ask } = await serve();
    const error = (await ask({ jsonrpc: "2.0", id: 1, method, params } as { id: 1 }))?.error;
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toMatch(RegExp(`^Invalid params for ${method}: ${key}: .{1,600}$`));
  });

  test.each(["both", "modern"] as const)(
    "a first request without capabilities is modern, too (%s)",
    async (protocol) => {
      const { ask, say, requests } = await serve({ protocol });
      const without = modern("tools/list", {}, { id: 1, meta: { [capabilitiesKey]: undefined } });
      expect(await ask(without)).toMatchObject({ error: { code: -32602 } });
      say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } });
      expect(await ask(calling("echo", 2))).toMatchObject({ error: { code: -32022 } });
      expect(await ask(initializing(3))).toMatchObject(versionError("2025-11-25"));
      expect(requests).toEqual([]);
      expect(await ask(modernCall("echo", {}, { id: 4 }))).toMatchObject({
        result: { resultType: "complete" },
      });
    },
  );
});

describe("a modern client over stdio", () => {
  test("a later request without an envelope is rejected, and one of another revision or a handshake with the known ones", async () => {
    const { ask, requests } = await serve();
    await ask(modernCall("echo", {}, { id: 1 }));
    expect(await ask(calling("echo", 2))).toMatchObject({ error: { code: -32602 } });
    const meta = { [capabilitiesKey]: {} };
    const without = { jsonrpc: "2.0", id: 3, method: "tools/list", params: { _meta: meta } };
    expect(await ask(without)).toMatchObject({ error: { code: -32602 } });
    for (const [id, method, protocolVersion, requested] of [
      [4, "tools/call", undefined, "2099-01-01"],
      [5, "server/discover", undefined, "2025-11-25"],
      [6, "no/method", undefined, "2099-01-01"],
      [7, "initialize", "2025-11-25", revision],
      [8, "initialize", "2025-11-25", "2099-01-01"],
    ] as const) {
      const later = modern(
        method,
        { name: "echo", protocolVersion },
        { id, meta: { [revisionKey]: requested } },
      );
      const named = requested === revision ? protocolVersion : requested;
      expect(await ask(later)).toMatchObject(versionError(named ?? ""));
    }
    expect(requests).toHaveLength(1);
  });

  test("a notification cancels a call, which then sends nothing more", async () => {
    const { say, ask, slowCalls, find } = await serve();
    say(modernCall("slow", {}, { id: 1 }));
    await expect.poll(() => slowCalls.length).toBe(1);
    say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => slowCalls[0]?.signal.aborted).toBe(true);
    await ask(modernCall("echo", {}, { id: 2 }));
    expect(find(1)).toBeUndefined();
  });

  test("a call that is canceled before the session is open does not run", async () => {
    const { say, ask, gateway, requests, find } = await serve();
    await ask(modernCall("echo", {}, { id: 1 }));
    let open = () => {};
    Object.assign(gateway, { opened: new Promise<void>((resolve) => (open = resolve)) });
    say(modernCall("echo", { n: 2 }, { id: 2 }));
    say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
    setTimeout(() => open(), 50);
    await ask(modernCall("echo", { n: 3 }, { id: 3 }));
    expect(find(2)).toBeUndefined();
    expect(requests.map(({ arguments: args }) => args)).toEqual([{}, { n: 3 }]);
  });

  test("a failure of the host tells the client nothing of it", async () => {
    const { ask, gateway } = await serve();
    Object.assign(gateway, { callTool: () => Promise.reject(new Error("internals of the host")) });
    const answer = await ask(modernCall("echo", {}, { id: 1 }));
    expect(answer?.error).toEqual({ code: -32603, message: "The server failed to answer." });
  });

  const listen = modern(
    "subscriptions/listen",
    { notifications: { toolsListChanged: true } },
    { id: "s" as never },
  );

  test("more requests to listen than are served are rejected, and the client is served on", async () => {
    const { say, ask } = await serve();
    const notifications = { resourceSubscriptions: ["test://text"] };
    for (let id = 1; id <= 1024; id++) say(modern("subscriptions/listen", { notifications }, { id }));
    const tooMany = modern("subscriptions/listen", { notifications }, { id: 1025 });
    expect(await ask(tooMany)).toMatchObject({ error: { code: -32603 } });
    expect(await ask(modernCall("echo", {}, { id: 2000 }))).toHaveProperty("result");
  });

  test("a subscription delays neither the end of stdin nor `close`, and gets a result", async () => {
    for (const finish of ["input", "closed"]) {
      const { say, messages, find, input, close, ends } = await serve();
      say(listen);
      await expect.poll(() => messages().length).toBe(1);
      expect(messages()[0]).toMatchObject({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: {}, _meta: { [subscriptionKey]: "s" } },
      });
      // With the grace period of a minute, this would time out if the subscription counted as unanswered.
      if (finish === "input") input.end();
      else await close();
      await expect.poll(ends).toBe(1);
      expect(find("s")).toMatchObject({
        result: { resultType: "complete", _meta: { [subscriptionKey]: "s" } },
      });
    }
  });
});

test("a modern process rejects initialize, names its revisions, and continues", async () => {
  const { ask } = await serve({ protocol: "modern" });
  expect(await ask(initializing(1))).toMatchObject(versionError("2025-11-25"));
  expect(await ask(calling("echo", 2))).toMatchObject({ error: { code: -32022 } });
  expect(await ask(modernCall("echo", {}, { id: 3 }))).toMatchObject({
    result: { resultType: "complete" },
  });
});
