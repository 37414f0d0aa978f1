import { describe, expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../../src/mcp/http/serve-http.ts";
import { createModernProxy } from "../../../src/mcp/modern-proxy.ts";
import { createProxyServer, type ProxyLimits } from "../../../src/mcp/proxy-server.ts";
import { createProcessPort } from "../../../src/processes/server-process.ts";
import { inRepository } from "../../support/repository.ts";
import { headersFor, modern, modernCall, revision } from "../modern/modern-served.ts";
import { beginSession, calling, initializing, messagesOf, post } from "./served.ts";

const fixture = inRepository("test/mcp/client/fixtures/server.mjs");

/** Serves the fixture of servers, with its options: a process a session, and one for all modern clients. */
async function serveFixture(options: object = {}, limits?: ProxyLimits) {
  const stderr: string[] = [];
  const launch = {
    command: process.execPath,
    args: [fixture, JSON.stringify(options)],
    cwd: inRepository("."),
    env: {},
  };
  const processes = createProcessPort({ leftoverMs: 400 });
  const onStderr = (chunk: Buffer) => stderr.push(chunk.toString());
  const create = () => createProxyServer("acme/pack/server", launch, processes, onStderr, limits);
  const served = await serveHttp(create, {
    label: "acme/pack/server",
    graceMs: 500,
    modern: () => createModernProxy(launch, "auto", processes, onStderr),
  });
  onTestFinished(() => served.close());
  return { ...served, stderr };
}

const small = { messageBytes: 1 << 20, waitingBytes: 2 << 20 };

test("a server that sends a message above the limit is ended, and every running call fails with the reason", async () => {
  const served = await serveFixture({}, small);
  const session = await beginSession(served);
  const other = await beginSession(served);
  const hanging = post(served, calling("hang", 2), session);
  const large = post(served, calling("text", 3, { bytes: 2 << 20 }), session);
  const message = "The server was terminated because it sent a message of more than 1 MiB.";
  for (const [id, answer] of [[2, hanging] as const, [3, large] as const]) {
    expect(await messagesOf(await answer)).toEqual([
      { jsonrpc: "2.0", id, error: { code: -32603, message } },
    ]);
  }
  expect(served.stderr.join("")).toMatch(/acme\/pack\/server.* 1 MiB/);
  await expect.poll(async () => (await post(served, calling("echo"), session)).status).toBe(404);
  expect(await messagesOf(await post(served, calling("echo"), other))).toMatchObject([{ result: {} }]);
});

test("messages that a server does not read are not buffered without limit", async () => {
  const served = await serveFixture({ deaf: true, ignoreEnd: true }, small);
  const session = await beginSession(served);
  await messagesOf(await post(served, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session));
  const stop = new AbortController();
  const text = "x".repeat(1 << 20);
  const calls = [3, 4, 5, 6, 7].map((id) =>
    post(served, calling("echo", id, { text }), session, { signal: stop.signal })
      .then(messagesOf)
      .catch(() => []),
  );
  expect(
    await Promise.any(calls.map((call) => call.then((messages) => messages[0] ?? Promise.reject()))),
  ).toMatchObject({
    error: { code: -32603, message: expect.stringContaining("2 MiB") },
  });
  stop.abort();
  await Promise.all(calls);
});

describe("a modern server that modern clients share", () => {
  const line = (content: object) =>
    `${JSON.stringify({ jsonrpc: "2.0", ...content, id: "ID" }).replace('"ID"', "ID")}\n`;
  const unknown = line({ error: { code: -32601, message: "Method not found" } });
  const answers = {
    initialize: unknown,
    "server/discover": line({ result: { supportedVersions: [revision], capabilities: { tools: {} } } }),
    "no/such": unknown,
  };

  test("a method that the server does not know is answered with status 404, and other errors are not", async () => {
    const served = await serveFixture({ answers });
    const message = modern("no/such");
    const response = await post(served, message, headersFor(message));
    expect([response.status, await response.json()]).toMatchObject([404, { id: 1, error: { code: -32601 } }]);
    const wrong = modernCall("no such tool");
    const other = await post(served, wrong, headersFor(wrong));
    expect([other.status, await other.json()]).toMatchObject([200, { error: { code: -32602 } }]);
  });

  test("a legacy client of a server that does not know `initialize` learns which revisions it knows", async () => {
    const served = await serveFixture({ answers });
    const [message] = await messagesOf(await post(served, initializing()));
    expect(message).toMatchObject({
      id: 1,
      error: { code: -32022, data: { supported: [revision], requested: "2025-11-25" } },
    });
  });
});
