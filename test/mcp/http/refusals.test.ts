import { describe, expect, test } from "vitest";
import { formatRequest, openConnection, statusOf } from "./raw-connection.ts";
import { beginSession, calling, initializing, post, type Served, serve, usual } from "./served.ts";

/** The status for a request whose Host or others are not those that fetch would send. */
async function statusWith(
  { port }: Served,
  headers: Record<string, string | readonly string[] | undefined>,
  line?: string,
): Promise<number> {
  const connection = await openConnection(port);
  connection.socket.write(formatRequest(port, initializing(), headers, line));
  await expect.poll(connection.received).toContain("\r\n\r\n");
  connection.socket.destroy();
  return statusOf(connection.received());
}

describe("the Host header", () => {
  test("a loopback Host with the port is accepted in any form", async () => {
    const served = await serve();
    for (const host of ["127.0.0.1", "localhost", "LocalHost", "[::1]", "127.0.0.2"]) {
      expect(await statusWith(served, { Host: `${host}:${served.port}` }), host).toBe(200);
    }
  });

  test("any other Host is rejected before a session is created", async () => {
    const served = await serve();
    const { port } = served;
    const others = [
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `evil.example@127.0.0.1:${port}`,
      `127.0.0.1:${port}, evil.example`,
      `192.0.2.1:${port}`,
      `127.0.0.1:${port === 1 ? 2 : 1}`,
      "127.0.0.1",
      `[::2]:${port}`,
      "",
      undefined,
      [`127.0.0.1:${port}`, "evil.example"],
    ];
    for (const host of others) expect(await statusWith(served, { Host: host }), String(host)).toBe(403);
    expect(served.made).toEqual([]);
  });

  test("an allowed Host is accepted", async () => {
    const served = await serve({ allowedHosts: ["tools.example", "Other.example:8443"] });
    const allowed = ["tools.example", "tools.example:443", "other.example:8443"];
    for (const host of allowed) expect(await statusWith(served, { Host: host }), host).toBe(200);
    expect(await statusWith(served, { Host: "other.example:1" })).toBe(403);
    expect(await statusWith(served, { Host: "evil.example" })).toBe(403);
  });

  test("a server for all addresses accepts any IP address as Host, but no other name", async () => {
    const served = await serve({ host: "0.0.0.0", noAuth: true });
    for (const host of [`192.0.2.1:${served.port}`, "192.0.2.1:8080", "localhost:8080", "[2001:db8::1]:1"]) {
      expect(await statusWith(served, { Host: host }), host).toBe(200);
    }
    for (const host of ["evil.example", "1.2.3.4.evil.example"]) {
      expect(await statusWith(served, { Host: host }), host).toBe(403);
    }
  });
});

test("a refused Host or Origin is named with the option that allows it, also once in the log", async () => {
  const logged: string[] = [];
  const served = await serve({ onMisplaced: (message) => logged.push(message) });
  const connection = await openConnection(served.port);
  connection.socket.write(formatRequest(served.port, initializing(), { Host: "mcp.example.com" }));
  await expect.poll(connection.received).toContain('"id":null}');
  expect(connection.received()).toMatch(/Host header \\"mcp.example.com\\".*--allowed-host/);
  const answer = await post(served, initializing(), { origin: "https://app.example" });
  expect(await answer.text()).toMatch(/Origin header \\"https:\/\/app.example\\".*--allowed-origin/);
  await post(served, initializing(), { origin: "https://other.example" });
  const options = [expect.stringContaining("--allowed-host"), expect.stringContaining("--allowed-origin")];
  expect(logged).toEqual(options);
});

describe("the Origin header", () => {
  test("a missing Origin, or the server's own, is accepted", async () => {
    const served = await serve();
    const { port } = served;
    const own = ["http://127.0.0.1", "http://localhost", "https://localhost", "http://[::1]"];
    expect((await post(served, initializing())).status).toBe(200);
    for (const origin of own) {
      expect((await post(served, initializing(), { origin: `${origin}:${port}` })).status, origin).toBe(200);
    }
  });

  test("any other Origin is rejected, also in a session", async () => {
    const served = await serve();
    const { port } = served;
    const session = await beginSession(served);
    const others = [
      "https://evil.example",
      `http://evil.example:${port}`,
      "null",
      "http://localhost:1",
      "http://localhost",
      `file://localhost:${port}`,
      `http://localhost:${port}/`,
      `http://evil.example@localhost:${port}`,
    ];
    for (const origin of others) {
      expect((await post(served, calling("echo"), { ...session, origin })).status, origin).toBe(403);
    }
    expect(served.echoed).toEqual([]);
    expect((await post(served, calling("echo"), session)).status).toBe(200);
  });

  test("an allowed origin is answered with CORS, before the token is asked for and in refusals", async () => {
    const served = await serve({ allowedOrigins: ["http://localhost:6274/"], token: "t" });
    const origin = "http://localhost:6274";
    const preflight = await fetch(served.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
        "access-control-request-private-network": "true",
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "authorization,content-type,mcp-protocol-version",
      "access-control-allow-private-network": "true",
      vary: "Origin",
    });
    const authorization = "Bearer t";
    for (const [headers, status] of [
      [{ authorization }, 200],
      [{}, 401],
      [{ authorization, "mcp-session-id": "x" }, 404],
      [{ authorization, "content-type": "text/plain" }, 415],
    ] as const) {
      const answer = await post(served, initializing(), { origin, ...headers });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, origin]);
      expect(answer.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    }
    for (const other of ["http://localhost:6275", "https://localhost:6274", "null"]) {
      const answer = await fetch(served.url, {
        method: "OPTIONS",
        headers: { origin: other, "access-control-request-method": "POST" },
      });
      expect([answer.status, answer.headers.get("access-control-allow-origin")], other).toEqual([403, null]);
    }
  });

  test("an allowed host is an allowed origin", async () => {
    const served = await serve({ allowedHosts: ["localhost:6274"] });
    const origin = "http://localhost:6274";
    const answer = await post(served, initializing(), { origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  });

  test.each(["*", "localhost:6274", "https://*.example", "http://a.example/path", "http://a@b.example", ""])(
    "%j is not an allowed origin",
    async (origin) => {
      await expect(serve({ allowedOrigins: [origin] })).rejects.toMatchObject({ code: "InvalidArguments" });
    },
  );

  test.each(["https://a.example", "*.example", "a.example/mcp", "a.example:", ""])(
    "%j is not an allowed host",
    async (host) => {
      await expect(serve({ allowedHosts: [host] })).rejects.toMatchObject({ code: "InvalidArguments" });
    },
  );

  test("CORS requests of other origins never get permission", async () => {
    const served = await serve();
    const origin = `http://localhost:${served.port}`;
    const answers = [
      await post(served, initializing(), { origin }),
      await fetch(served.url, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 405]);
    for (const { headers } of answers) {
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

describe("the bearer token", () => {
  const token = "s3cret~token";

  test("a missing token and a wrong token get different challenges", async () => {
    const served = await serve({ token });
    const without = await post(served, initializing());
    expect(without.status).toBe(401);
    expect(without.headers.get("www-authenticate")).toBe('Bearer realm="trailblaze"');
    const tried = [
      "Bearer other",
      `Bearer ${token}x`,
      "Bearer ",
      `Basic ${token}`,
      `Bearer ${token} x`,
      token,
    ];
    for (const authorization of tried) {
      const wrong = await post(served, initializing(), { authorization });
      expect(wrong.status, authorization).toBe(401);
      expect(wrong.headers.get("www-authenticate")).toBe('Bearer realm="trailblaze", error="invalid_token"');
      expect(await wrong.text()).not.toContain(token);
    }
    expect(served.made).toEqual([]);
    expect((await post(served, initializing(), { authorization: `bearer ${token}` })).status).toBe(200);
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
});

describe("method and path", () => {
  test("GET, POST and DELETE of /mcp are accepted, with any query", async () => {
    const served = await serve();
    const session = await beginSession(served);
    for (const method of ["PUT", "PATCH", "OPTIONS", "HEAD"]) {
      const answer = await fetch(served.url, { method, headers: session });
      expect([answer.status, answer.headers.get("allow")], method).toEqual([405, "GET, POST, DELETE"]);
    }
    for (const path of ["/", "/mcp/", "/MCP", "/mcp2", "//mcp", "/.well-known/oauth-protected-resource"]) {
      const answer = await post({ url: new URL(served.url).origin + path }, initializing());
      expect(answer.status, path).toBe(404);
    }
    expect((await post({ url: `${served.url}?a=b` }, initializing())).status).toBe(200);
    expect(await statusWith(served, {}, "CONNECT 127.0.0.1:1 HTTP/1.1")).toBe(405);
  });

  test("without sessions, only POST is accepted", async () => {
    const served = await serve({ stateless: true });
    for (const method of ["GET", "DELETE"]) {
      const answer = await fetch(served.url, { method, headers: { accept: "text/event-stream" } });
      expect([answer.status, answer.headers.get("allow")], method).toEqual([405, "POST"]);
    }
    expect((await post(served, calling("echo"))).status).toBe(200);
  });
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

  test("a body must have, and its client must accept, the types that the protocol names", async () => {
    const served = await serve();
    expect((await post(served, initializing(), { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(served, initializing(), { "content-encoding": "gzip" })).status).toBe(415);
    expect((await post(served, initializing(), { accept: "application/json" })).status).toBe(406);
    // None of them is left over as a session.
    expect(served.closed).toEqual(served.made);
    const charset = { "content-type": "application/json; charset=utf-8", "content-encoding": "identity" };
    expect((await post(served, initializing(), charset)).status).toBe(200);
    const session = await beginSession(served);
    const json = { ...session, accept: "application/json" };
    expect((await fetch(served.url, { headers: json })).status).toBe(406);
  });

  test("a client that accepts anything, or does not say what, is served", async () => {
    const served = await serve();
    expect((await post(served, initializing(), { accept: "*/*" })).status).toBe(200);
    expect((await post(served, initializing(), { accept: "text/html, */*;q=0.1" })).status).toBe(200);
    expect(await statusWith(served, { Accept: undefined })).toBe(200);
  });

  test("a body up to the limit is accepted, announced or not", async () => {
    const served = await serve({ maxBodyBytes: 2000 });
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

  test("the default limit accepts a body of 4 MiB", async () => {
    const served = await serve();
    const session = await beginSession(served);
    const large = { text: "x".repeat(4 * 1024 * 1024 - 200) };
    expect((await post(served, calling("echo", 2, large), session)).status).toBe(200);
    expect(
      (await post(served, calling("echo", 3, { ...large, more: "x".repeat(200) }), session)).status,
    ).toBe(413);
  });

  test("a batch is rejected", async () => {
    const served = await serve();
    const session = await beginSession(served);
    for (const batch of [[calling("echo", "a"), calling("echo", "b")], [calling("echo", "a")], []]) {
      const answer = await post(served, batch, session);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ id: null, error: { code: -32600 } });
    }
    const without = await post(served, [initializing(1)]);
    expect([without.status, await without.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    expect(served.echoed).toEqual([]);
    const single = await serve({ stateless: true });
    expect((await post(single, [calling("echo", "a")])).status).toBe(400);
    expect(single.echoed).toEqual([]);
  });
});
