import { describe, expect, test } from "vitest";
import type { ServeHttpOptions } from "../../../src/mcp/http/serve-http.ts";
import { formatRequest, openConnection, statusOf } from "./raw-connection.ts";
import { beginSession, calling, initializing, post, type Served, serve, usual } from "./served.ts";

/** What is answered to a valid `initialize` with another request line or another header. */
async function answerTo(
  { port }: Served,
  headers: Record<string, string | readonly string[] | undefined>,
  line?: string,
): Promise<string> {
  const connection = await openConnection(port);
  connection.socket.write(formatRequest(port, initializing(), headers, line));
  await expect.poll(connection.received).toContain("\r\n\r\n");
  connection.socket.destroy();
  return connection.received();
}

const named = { allowedHosts: ["tools.example", "Other.example:8443", "localhost:6274"] };
const everywhere = { host: "0.0.0.0", noAuth: true };
const token = "s3cret~token";

/** What a header may contain; `PORT` stands for the server's own port. */
test.each<
  [header: string, status: number, Partial<ServeHttpOptions>, (string | readonly string[] | undefined)[]]
>([
  ["Host", 200, {}, ["127.0.0.1:PORT", "localhost:PORT", "LocalHost:PORT", "[::1]:PORT", "127.0.0.2:PORT"]],
  ["Host", 403, {}, ["evil.example:PORT", "localhost.evil.example:PORT", "127.0.0.1.evil.example:PORT"]],
  ["Host", 403, {}, ["evil.example@127.0.0.1:PORT", "127.0.0.1:PORT, evil.example", "192.0.2.1:PORT"]],
  ["Host", 403, {}, ["127.0.0.1:1", "127.0.0.1", "[::2]:PORT", "", undefined, ["127.0.0.1:PORT", "x"]]],
  ["Host", 200, named, ["tools.example", "tools.example:443", "other.example:8443"]],
  ["Host", 403, named, ["other.example:1", "evil.example"]],
  ["Host", 200, everywhere, ["192.0.2.1:PORT", "192.0.2.1:8080", "localhost:8080", "[2001:db8::1]:1"]],
  ["Host", 403, everywhere, ["evil.example", "1.2.3.4.evil.example"]],
  [
    "Origin",
    200,
    {},
    [undefined, "http://127.0.0.1:PORT", "http://localhost:PORT", "https://localhost:PORT"],
  ],
  ["Origin", 200, {}, ["http://[::1]:PORT"]],
  ["Origin", 403, {}, ["https://evil.example", "http://evil.example:PORT", "null", "http://localhost:1"]],
  ["Origin", 403, {}, ["http://localhost", "file://localhost:PORT", "http://localhost:PORT/"]],
  ["Origin", 403, {}, ["http://evil.example@localhost:PORT"]],
  ["Origin", 200, named, ["http://localhost:6274"]],
  ["Authorization", 200, { token }, [`Bearer ${token}`, `bearer ${token}`]],
  ["Authorization", 401, { token }, [undefined, "Bearer other", `Bearer ${token}x`, "Bearer "]],
  ["Authorization", 401, { token }, [`Basic ${token}`, `Bearer ${token} x`, token]],
  ["Content-Type", 200, {}, ["application/json; charset=utf-8"]],
  ["Content-Type", 415, {}, ["text/plain"]],
  ["Accept", 200, {}, [undefined, "*/*", "text/html, */*;q=0.1"]],
  ["Accept", 406, {}, ["application/json"]],
])("%s: %i with %j for each of %j", async (header, status, options, values) => {
  const served = await serve(options);
  const fill = (value: string) => value.replace("PORT", String(served.port));
  for (const value of values) {
    const filled = typeof value === "string" ? fill(value) : value?.map(fill);
    const text = await answerTo(served, {
      ...(options.token && { Authorization: `Bearer ${token}` }),
      [header]: filled,
    });
    expect(statusOf(text), String(value)).toBe(status);
    if (status !== 401) continue;
    const challenge = `Bearer realm="trailblaze"${value === undefined ? "" : ', error="invalid_token"'}`;
    expect(text.toLowerCase()).toContain(`www-authenticate: ${challenge.toLowerCase()}\r\n`);
    expect(text).not.toContain(token);
  }
  // A refused client leaves no session.
  if (status !== 200) expect(served.closed).toEqual(served.made);
  if (status === 401 || status === 403) expect(served.made).toEqual([]);
});

const all = "GET, POST, DELETE";
test.each<[line: string, status: number, Partial<ServeHttpOptions>, allow?: string]>([
  ["POST /mcp?a=b", 200, {}],
  ...["PUT", "PATCH", "OPTIONS", "HEAD"].map((method): [string, number, object, string] => [
    `${method} /mcp`,
    405,
    {},
    all,
  ]),
  ...["/", "/mcp/", "/MCP", "/mcp2", "//mcp", "/.well-known/oauth-protected-resource"].map(
    (path): [string, number, object] => [`POST ${path}`, 404, {}],
  ),
  ["GET /mcp", 405, { stateless: true }, "POST"],
  ["DELETE /mcp", 405, { stateless: true }, "POST"],
  ["POST /mcp", 200, { stateless: true }],
])("%s: %i with %j", async (line, status, options, allow) => {
  const text = await answerTo(await serve(options), {}, `${line} HTTP/1.1`);
  expect([statusOf(text), /^allow: (.*)\r$/im.exec(text)?.[1]]).toEqual([status, allow]);
});

test("a refused Host or Origin is named with the option that allows it", async () => {
  const served = await serve();
  const connection = await openConnection(served.port);
  connection.socket.write(formatRequest(served.port, initializing(), { Host: "mcp.example.com" }));
  await expect.poll(connection.received).toContain('"id":null}');
  expect(connection.received()).toMatch(/Host header \\"mcp.example.com\\".*--allowed-host/);
  const answer = await post(served, initializing(), { origin: "https://app.example" });
  expect(await answer.text()).toMatch(/Origin header \\"https:\/\/app.example\\".*--allowed-origin/);
});

test("patterns and URLs are no allowed origins and hosts", async () => {
  for (const origin of ["*", "localhost:6274", "https://*.example", "http://a.example/path", ""])
    await expect(serve({ allowedOrigins: [origin] })).rejects.toMatchObject({ code: "InvalidArguments" });
  for (const host of ["https://a.example", "*.example", "a.example/mcp", ""])
    await expect(serve({ allowedHosts: [host] })).rejects.toMatchObject({ code: "InvalidArguments" });
});

test("an allowed origin is answered with CORS, before the token is asked for and in refusals", async () => {
  const served = await serve({ allowedOrigins: ["http://localhost:6274/"], token });
  const origin = "http://localhost:6274";
  const ask = (from: string) => {
    const headers = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    };
    return fetch(served.url, { method: "OPTIONS", headers: { origin: from, ...headers } });
  };
  const preflight = await ask(origin);
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": "authorization",
    vary: "Origin",
  });
  const authorization = `Bearer ${token}`;
  for (const [headers, status] of [
    [{ authorization }, 200],
    [{}, 401],
    [{ authorization, "mcp-session-id": "x" }, 404],
  ] as const) {
    const answer = await post(served, initializing(), { origin, ...headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, origin]);
    expect(answer.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
  }
  for (const other of ["http://localhost:6275", "https://localhost:6274", "null"]) {
    const answer = await ask(other);
    expect([answer.status, answer.headers.get("access-control-allow-origin")], other).toEqual([403, null]);
  }
});

test("pages of other origins get no permission to read answers", async () => {
  const served = await serve();
  const origin = `http://localhost:${served.port}`;
  const method = "OPTIONS";
  const preflight = await fetch(served.url, {
    method,
    headers: { origin, "access-control-request-method": "POST" },
  });
  for (const { headers } of [await post(served, initializing(), { origin }), preflight]) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("every request of a session requires the token", async () => {
  const served = await serve({ token });
  const session = await beginSession(served, { authorization: `Bearer ${token}` });
  const requests = [
    () => post(served, calling("echo"), session),
    () => fetch(served.url, { headers: { ...session, accept: "text/event-stream" } }),
    () => fetch(served.url, { method: "DELETE", headers: session }),
  ];
  for (const send of requests) expect((await send()).status).toBe(401);
  const answer = await post(served, calling("echo"), { ...session, authorization: `Bearer ${token}` });
  expect(answer.status).toBe(200);
});

describe("the body of a request", () => {
  test("a body must be JSON-RPC in UTF-8 and not nested too deep", async () => {
    const served = await serve();
    const session = await beginSession(served);
    const errorOf = async (message: unknown) => {
      const answer = await post(served, message, session);
      return [answer.status, ((await answer.json()) as { error: { code: number } }).error.code];
    };
    expect(await errorOf("{")).toEqual([400, -32700]);
    expect(await errorOf("")).toEqual([400, -32700]);
    expect(await errorOf({ hello: 1 })).toEqual([400, -32700]);
    // Not even parsed, which would take seconds. Its JSON is also invalid.
    expect(await errorOf("[".repeat(2_000_000))).toEqual([400, -32600]);
    const latin1 = Buffer.from(JSON.stringify(calling("é")), "latin1");
    expect(
      (await fetch(served.url, { method: "POST", headers: { ...usual, ...session }, body: latin1 })).status,
    ).toBe(400);
    expect((await post(served, calling("echo", 9, { text: "é" }), session)).status).toBe(200);
    expect(served.echoed).toEqual([{ text: "é" }]);
  });

  test("a body up to the limit is accepted, announced or not", async () => {
    const served = await serve({ limits: { maxBodyBytes: 2000 } });
    const session = await beginSession(served);
    const bodyOf = (bytes: number) => {
      const body = JSON.stringify(calling("echo", 2, { text: "" }));
      return body.replace('""', `"${"x".repeat(bytes - body.length)}"`);
    };
    expect((await post(served, bodyOf(2000), session)).status).toBe(200);
    expect((await post(served, bodyOf(2001), session)).status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 3; part++) controller.enqueue(Buffer.alloc(1000, " "));
        controller.close();
      },
    });
    const answer = await post(served, "", session, { body: stream, duplex: "half" } as RequestInit);
    expect(answer.status).toBe(413);
    expect(served.echoed).toHaveLength(1);
  });

  test("a batch is rejected", async () => {
    const served = await serve();
    const session = await beginSession(served);
    for (const batch of [[calling("echo", "a"), calling("echo", "b")], []]) {
      const answer = await post(served, batch, session);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ id: null, error: { code: -32600 } });
    }
    expect(served.echoed).toEqual([]);
  });
});
