import { once } from "node:events";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ServeHttpOptions } from "../../../src/mcp/http/serve-http.ts";
import { serveHttp } from "../../../src/mcp/http/serve-http.ts";
import { createTestServers } from "../../serve/test-servers.ts";
import { formatRequest, openConnection, statusesIn, statusOf } from "./raw-connection.ts";
import { beginSession, calling, initializing, legacyOnly, messagesOf, post, serve } from "./served.ts";

async function failureOf(options: Partial<ServeHttpOptions>): Promise<unknown> {
  try {
    const served = await serveHttp(createTestServers().create, { ...legacyOnly, ...options });
    onTestFinished(() => served.close());
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the address of an HTTP server", () => {
  test("the default address is 127.0.0.1 with a free port", async () => {
    const { url, port } = await serve();
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    const other = Object.values(networkInterfaces())
      .flat()
      .find((address) => address?.family === "IPv4" && !address.internal);
    if (other === undefined) return;
    const connection = openConnection(port, other.address);
    await expect(connection).rejects.toThrow("ECONNREFUSED");
  });

  test("an address that is in use is rejected", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    expect(await failureOf({ port })).toMatchObject({
      code: "ServerStartFailed",
      problem: {
        args: { label: "acme/pack/server", reason: expect.stringContaining(`127.0.0.1:${port}`) },
      },
    });
  });

  test("other machines are allowed only with a token or with explicit permission", async () => {
    for (const host of ["0.0.0.0", "::", "", "192.0.2.1", "tools.example", "127.0.0.1.evil.example"]) {
      expect(await failureOf({ host }), host).toMatchObject({ code: "InvalidArguments" });
    }
    expect(await failureOf({ host: "0.0.0.0", token: "t" })).toBeUndefined();
    expect(await failureOf({ host: "0.0.0.0", noAuth: true })).toBeUndefined();
    for (const host of ["127.0.0.1", "localhost", "127.0.0.3"]) {
      expect(await failureOf({ host }), host).toBeUndefined();
    }
    for (const token of ["", "a b", "a\n", "ü"]) {
      expect(await failureOf({ token }), token).toMatchObject({ code: "InvalidArguments" });
    }
  });
});

describe("connections of an HTTP server", () => {
  test("a slow connection is served while it makes progress, and then closed", async () => {
    const served = await serve({ limits: { headersTimeoutMs: 150, bodyTimeoutMs: 150 } });
    const { port } = served;
    const silent = await openConnection(port);
    const slowHead = await openConnection(port);
    slowHead.socket.write("POST /mcp HTTP/1.1\r\nHost: ");
    const slowBody = await openConnection(port);
    slowBody.socket.write(formatRequest(port, "", { "Content-Length": "4000" }));
    const trickle = setInterval(() => slowBody.socket.write(" "), 20);
    expect(statusOf(await slowBody.closed)).toBe(408);
    clearInterval(trickle);
    expect(statusesIn(await slowHead.closed)).toEqual([408]);
    expect(statusesIn(await silent.closed)).toEqual([408]);
    // On a busy machine, a request may take longer than the limits.
    await expect.poll(async () => (await post(served, initializing())).status).toBe(200);
  });

  test("an idle connection is closed", async () => {
    const served = await serve({ limits: { idleTimeoutMs: 200 } });
    const { port } = served;
    const session = await beginSession(served);
    const connection = await openConnection(port);
    connection.socket.write(formatRequest(port, calling("slow"), session));
    expect(statusesIn(await connection.closed)).toEqual([200]);
    await expect.poll(() => served.slowCalls[0]?.signal.aborted).toBe(true);
  });

  test("a connection beyond the limit is closed, and the others are served", async () => {
    const served = await serve({ limits: { maxConnections: 3 } });
    const open = await Promise.all([1, 2, 3].map(() => openConnection(served.port)));
    const beyond = await openConnection(served.port);
    expect(statusesIn(await beyond.closed)).toEqual([]);
    open[0]?.socket.write(formatRequest(served.port, initializing()));
    await expect.poll(() => statusesIn(open[0]?.received() ?? "")).toEqual([200]);
  });
});

test("closing answers open requests, ends streams and connections, and frees the port", async () => {
  const served = await serve({ graceMs: 60_000 });
  const session = await beginSession(served);
  const slow = post(served, calling("slow", 4), session);
  const stream = await fetch(served.url, { headers: { ...session, accept: "text/event-stream" } });
  const idle = await openConnection(served.port);
  await expect.poll(() => served.slowCalls.length).toBe(1);
  await served.close();
  expect(await messagesOf(await slow)).toEqual([
    expect.objectContaining({ id: 4, error: expect.anything() }),
  ]);
  expect(await stream.text()).toBe("");
  await idle.closed;
  expect(served.slowCalls[0]?.signal.aborted).toBe(true);
  expect(served.closed).toEqual(served.made);
  await expect(post(served, initializing())).rejects.toThrow();
  const again = await serve({ port: served.port });
  expect((await post(again, initializing())).status).toBe(200);
  await served.close();
  expect((await post(again, initializing())).status).toBe(200);
});
