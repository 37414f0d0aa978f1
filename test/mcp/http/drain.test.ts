import { expect, test } from "vitest";
import { formatRequest, openConnection } from "./raw-connection.ts";
import {
  beginSession,
  calling,
  connectClient,
  initializing,
  post,
  type Served,
  serve,
  textOf,
} from "./served.ts";

const probe = ({ url }: Served, init: RequestInit = {}) => fetch(new URL("/healthz", url), init);

test("a probe is answered without a token, whatever its Host", async () => {
  const served = await serve({ health: true, token: "secret" });
  const answer = await probe(served);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ok" }]);
  const head = await probe(served, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const other = await probe(served, { method: "POST" });
  expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD"]);

  const connection = await openConnection(served.port);
  connection.socket.write(`GET /healthz?from=kubelet HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
  await expect.poll(connection.received).toContain('{"status":"ok"}');
  expect((await post(served, initializing())).status).toBe(401);
});

test("without `health`, /healthz is a path like any other", async () => {
  const served = await serve();
  expect((await probe(served)).status).toBe(404);
});

test("a server that drains finishes its calls, and refuses new ones without running them", async () => {
  const served = await serve({ health: true });
  const session = await beginSession(served);
  const slow = post(served, calling("slow", 5), session);
  await expect.poll(() => served.slowCalls.length).toBe(1);

  const drained = served.drain(60_000);
  const refused = await post(served, calling("echo", 6), session);
  expect([refused.status, refused.headers.get("connection")]).toEqual([503, "close"]);
  expect(await refused.json()).toMatchObject({ id: 6, error: { message: "The server is shutting down." } });
  expect((await post(served, initializing())).status).toBe(503);
  expect(served.echoed).toEqual([]);
  const answer = await probe(served);
  expect([answer.status, await answer.json()]).toEqual([503, { status: "ending" }]);

  // A notification belongs to a request that is under way.
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } };
  expect((await post(served, cancel, session)).status).toBe(202);

  served.slowCalls[0]?.finish();
  expect(await (await slow).text()).toContain("slow");
  await drained;
  await served.close();
});

test("draining ends after its time, and closing then aborts the call", async () => {
  const served = await serve();
  const session = await beginSession(served);
  const slow = post(served, calling("slow", 5), session).then((response) => response.text());
  await expect.poll(() => served.slowCalls.length).toBe(1);
  await served.drain(1);
  await served.close();
  expect(await slow).toContain("The session has ended.");
  expect(served.slowCalls[0]?.signal.aborted).toBe(true);
});

test("a stream of notifications does not hold up a server that drains", async () => {
  const served = await serve();
  // The client opens a stream with GET.
  const { client } = await connectClient(served);
  expect(textOf(await client.callTool({ name: "echo", arguments: { a: 1 } }))).toBe('{"a":1}');
  await served.drain(60_000);
  const session = await post(served, initializing());
  expect(session.status).toBe(503);
  await served.close();
});

test("a request whose body arrives after the end has begun is not run", async () => {
  const served = await serve();
  const session = await beginSession(served);
  const connection = await openConnection(served.port);
  const text = formatRequest(served.port, calling("echo", 7), session);
  connection.socket.write(text.slice(0, -10));
  await post(served, calling("echo", 8, { first: true }), session);
  const drained = served.drain(60_000);
  connection.socket.write(text.slice(-10));
  await expect.poll(connection.received).toMatch(/^HTTP\/1.1 503 [\s\S]*connection: close/i);
  await drained;
  expect(served.echoed).toEqual([{ first: true }]);
});

test("requests behind one that is under way, and new streams of notifications, are refused", async () => {
  const served = await serve();
  const session = await beginSession(served);
  const connection = await openConnection(served.port);
  connection.socket.write(formatRequest(served.port, calling("slow", 7), session));
  await expect.poll(() => served.slowCalls.length).toBe(1);
  const drained = served.drain(60_000);
  connection.socket.write(formatRequest(served.port, calling("echo", 8), session));
  const stream = await fetch(served.url, { headers: { ...session, accept: "text/event-stream" } });
  expect([stream.status, stream.headers.get("connection")]).toEqual([503, "close"]);
  served.slowCalls[0]?.finish();
  await drained;
  await served.close();
  await expect
    .poll(connection.received)
    .toMatch(/^HTTP\/1.1 200[\s\S]*"id":7[\s\S]*HTTP\/1.1 503[\s\S]*"id":8/);
  expect(served.echoed).toEqual([]);
});
