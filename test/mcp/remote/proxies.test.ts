import { createServer } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { findProxy } from "../../../src/mcp/client/proxied-fetch.ts";
import { listen } from "../../support/listen.ts";
import { answerStart, sendJson, serveHttp } from "../../support/remote-servers.ts";
import { call, problemOf, startRemote } from "./start-remote.ts";

const find = (url: string, environment: Record<string, string>, npm: Record<string, string> = {}) =>
  findProxy(new URL(url), new Map(Object.entries(npm)), environment);

describe("the proxy of a remote server", () => {
  test.each([
    ["https://a.example/", { HTTPS_PROXY: "http://p:1" }, "http://p:1"],
    ["http://a.example/", { HTTP_PROXY: "http://p:1", HTTPS_PROXY: "http://q:1" }, "http://p:1"],
    ["https://a.example/", { HTTP_PROXY: "http://p:1" }, undefined],
    ["https://a.example/", { HTTPS_PROXY: "proxy.corp:8080" }, "http://proxy.corp:8080"],
  ])("for %s and the variables %j is %s", (url, environment, expected) => {
    expect(find(url, environment as Record<string, string>)).toBe(expected);
  });

  test.each([
    ["https://a.example/", { "https-proxy": "http://npm:1" }, "http://npm:1"],
    ["https://a.example/", { proxy: "false", "https-proxy": "null" }, "http://env:1"],
    ["https://a.example/", { proxy: "http://npm:1", noproxy: "a.example" }, undefined],
  ])("for %s and npm's configuration %j is %s", (url, npm, expected) => {
    expect(find(url, { HTTPS_PROXY: "http://env:1" }, npm as Record<string, string>)).toBe(expected);
  });

  test.each([
    ["a.example", "*"],
    ["a.example", ".example"],
    ["10.1.2.3", "10.1.2.3"],
    ["[2001:db8::1]:8443", "2001:db8::1"],
    // As npm takes it, and as the hint of a failure names it.
    ["[2001:db8::1]", "[2001:db8::1]"],
    ["[2001:db8::1]:8443", "[2001:db8::1]:8443"],
    ["a.example:8443", "b.example,.example:8443"],
    ["a.example", "A.Example:443"],
    ["localhost:3000", ""],
  ])("is none for https://%s if NO_PROXY is `%s`", (host, excluded) => {
    expect(find(`https://${host}/`, { HTTPS_PROXY: "http://p:1", NO_PROXY: excluded })).toBeUndefined();
  });

  test("applies to hosts that NO_PROXY does not name", () => {
    const environment = { HTTPS_PROXY: "http://p:1", no_proxy: "b.example,ample,a.example.com,a.example:80" };
    for (const host of ["a.example", "192.0.3.1", "[2001:db8::1]"])
      expect(find(`https://${host}/`, environment), host).toBe("http://p:1");
  });
});

/** Variables for the next start, and none of the machine's. */
function setVariables(values: Record<string, string>): void {
  for (const name of ["http_proxy", "https_proxy", "no_proxy"]) {
    vi.stubEnv(name, values[name] ?? "");
    vi.stubEnv(name.toUpperCase(), "");
  }
}

test("requests reach a server through a proxy, with its credentials, and its streams too", async () => {
  const urls: (string | undefined)[] = [];
  const proxy = await serveHttp((received, request, response) => {
    urls.push(request.url);
    if (received.http !== "POST") return response.writeHead(405).end();
    if (received.message.id === undefined) return response.writeHead(202).end();
    const start = answerStart(received);
    if (start !== undefined) return sendJson(response, 200, start);
    const result = { content: [{ type: "text", text: "reached" }] };
    const message = JSON.stringify({ jsonrpc: "2.0", id: received.message.id, result });
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(`data: ${message}\n\n`);
  });
  setVariables({ http_proxy: `http://me:hunter2@127.0.0.1:${proxy.port}` });
  const server = await startRemote("http://mcp.corp.invalid/mcp?a=1").ready;
  expect(await server.call("tools/call", call("echo"))).toMatchObject({
    content: [{ text: "reached" }],
  });
  expect(new Set(urls)).toEqual(new Set(["http://mcp.corp.invalid/mcp?a=1"]));
  // Some servers refuse requests without it.
  expect(proxy.received.every(({ headers }) => headers["user-agent"] === "node")).toBe(true);
  const credentials = `Basic ${Buffer.from("me:hunter2").toString("base64")}`;
  expect(proxy.received.every(({ headers }) => headers["proxy-authorization"] === credentials)).toBe(true);
});

describe("a proxy that does not connect", () => {
  test("that cannot be reached is named without its credentials", async () => {
    setVariables({ https_proxy: "http://me:hunter2@127.0.0.1:1" });
    const problem = await problemOf("https://mcp.corp.invalid/mcp");
    expect(problem).toMatchObject({
      code: "ServerStartFailed",
      args: {
        reason: expect.stringMatching(
          /^no connection through the proxy http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
        ),
      },
    });
    expect(JSON.stringify(problem)).not.toContain("hunter2");
  });

  test.each([
    ["https", 502, "it answered with HTTP status 502"],
    ["http", 407, "it answered with HTTP status 407"],
  ])("that answers a request for %s with %i is the reason", async (scheme, status, words) => {
    const server = createServer((_, response) => response.writeHead(status).end());
    server.on("connect", (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const { port } = await listen(server);
    setVariables({ [`${scheme}_proxy`]: `http://127.0.0.1:${port}` });
    const { args } = await problemOf(`${scheme}://mcp.corp.invalid/mcp`);
    const reason = new RegExp(`^no connection through the proxy http:\\S+: ${words}`);
    expect(args).toMatchObject({ reason: expect.stringMatching(reason) });
  });
});
