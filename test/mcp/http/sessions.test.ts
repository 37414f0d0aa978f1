import { describe, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../session/support/manual-clock.ts";
import {
  beginSession,
  calling,
  connectClient,
  initializing,
  messagesOf,
  post,
  serve,
  textOf,
} from "./served.ts";

const listening = (served: { url: string }, session: object, signal?: AbortSignal) =>
  fetch(served.url, {
    headers: { ...session, accept: "text/event-stream" },
    ...(signal === undefined ? {} : { signal }),
  });

/** Waits until that many sessions are idle: each has a timer that will end it. */
const settled = (clock: ManualClock, idle: number) => expect.poll(() => clock.delays.length).toBe(idle);

describe("the ID of a session", () => {
  test("each session ID is a new UUID, is passed to handlers, and is required to find the session", async () => {
    const served = await serve();
    const one = await beginSession(served);
    const other = await beginSession(served);
    expect(served.made).toEqual([one["mcp-session-id"], other["mcp-session-id"]]);
    expect(one["mcp-session-id"]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(one).not.toEqual(other);
    const [message] = await messagesOf(await post(served, calling("session"), one));
    expect(JSON.stringify(message)).toContain(one["mcp-session-id"]);
    const wrong = ["x", one["mcp-session-id"].toUpperCase(), `${one["mcp-session-id"]}, x`, "__proto__"];
    for (const id of wrong) {
      const answer = await post(served, calling("echo"), { "mcp-session-id": id });
      expect([answer.status, ((await answer.json()) as { error: object }).error], id).toEqual([
        404,
        expect.objectContaining({ code: -32001 }),
      ]);
    }
  });

  test("every request except `initialize` requires a session ID", async () => {
    const served = await serve();
    expect((await post(served, calling("echo"))).status).toBe(400);
    expect((await listening(served, {})).status).toBe(400);
    expect((await fetch(served.url, { method: "DELETE" })).status).toBe(400);
    expect(served.made).toEqual([]);
    const session = await beginSession(served);
    expect((await post(served, calling("echo"), session)).status).toBe(200);
    expect((await post(served, initializing(), session)).status).toBe(400);
    const version = { ...session, "mcp-protocol-version": "1999-01-01" };
    expect((await post(served, calling("echo"), version)).status).toBe(400);
  });
});

describe("the end of a session", () => {
  test("DELETE ends a session and its open requests", async () => {
    const served = await serve();
    const session = await beginSession(served);
    const other = await beginSession(served);
    const slow = post(served, calling("slow", 7), session);
    await expect.poll(() => served.slowCalls.length).toBe(1);
    const ended = await fetch(served.url, { method: "DELETE", headers: session });
    expect(ended.status).toBe(200);
    expect(await messagesOf(await slow)).toEqual([
      expect.objectContaining({ id: 7, error: expect.anything() }),
    ]);
    expect(served.slowCalls[0]?.signal.aborted).toBe(true);
    expect(served.closed).toEqual([session["mcp-session-id"]]);
    expect((await post(served, calling("echo"), session)).status).toBe(404);
    expect((await fetch(served.url, { method: "DELETE", headers: session })).status).toBe(404);
    expect((await post(served, calling("echo"), other)).status).toBe(200);
  });

  test("a session ends after its time to live, which each request restarts", async () => {
    const clock = createManualClock();
    const served = await serve({ sessionTtl: 1 });
    const idle = await beginSession(served);
    const used = await beginSession(served);
    await settled(clock, 2);
    clock.advance(999);
    expect(await messagesOf(await post(served, calling("echo"), used))).toHaveLength(1);
    await expect.poll(() => clock.delays).toEqual([1, 1000]);
    clock.advance(999);
    expect(served.closed).toEqual([idle["mcp-session-id"]]);
    expect((await post(served, calling("echo"), idle)).status).toBe(404);
    clock.advance(1);
    expect(served.closed).toEqual([idle["mcp-session-id"], used["mcp-session-id"]]);
  });

  test("a session does not end during a call or an open stream", async () => {
    const clock = createManualClock();
    const served = await serve({ sessionTtl: 0.1 });
    const calls = await beginSession(served);
    const slow = post(served, calling("slow"), calls);
    const listens = await beginSession(served);
    const stop = new AbortController();
    expect((await listening(served, listens, stop.signal)).status).toBe(200);
    // Something else that ends is no end of these.
    for (const session of [calls, listens]) await messagesOf(await post(served, calling("echo", 3), session));
    await expect.poll(() => served.slowCalls.length).toBe(1);
    clock.advance(1000);
    expect(served.closed).toEqual([]);
    served.slowCalls[0]?.finish();
    expect(await messagesOf(await slow)).toHaveLength(1);
    stop.abort();
    await settled(clock, 2);
    clock.advance(100);
    expect(served.closed).toHaveLength(2);
  });
});

test("the number of sessions is limited, and a session that ends makes room", async () => {
  const served = await serve({ maxSessions: 2 });
  const session = await beginSession(served);
  await beginSession(served);
  const refused = await post(served, initializing());
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(served.made).toHaveLength(2);
  expect((await post(served, calling("echo"), session)).status).toBe(200);
  await fetch(served.url, { method: "DELETE", headers: session });
  expect((await post(served, initializing())).status).toBe(200);
});

test("a disconnect cancels the client's call, and its session and other calls continue", async () => {
  const served = await serve();
  const session = await beginSession(served);
  const { client } = await connectClient(served);
  const stop = new AbortController();
  const gone = post(served, calling("slow", 5), session, { signal: stop.signal });
  const other = client.callTool({ name: "slow" });
  await expect.poll(() => served.slowCalls.length).toBe(2);
  stop.abort();
  await gone.then((answer) => answer.text()).catch(() => {});
  const [theirs, others] = [...served.slowCalls].sort((one) =>
    one.sessionId === session["mcp-session-id"] ? -1 : 1,
  );
  await expect.poll(() => theirs?.signal.aborted).toBe(true);
  expect(others?.signal.aborted).toBe(false);
  others?.finish();
  expect(textOf(await other)).toBe('"slow"');
  // The id is free again.
  expect(await messagesOf(await post(served, calling("echo", 5), session))).toEqual([
    expect.objectContaining({ id: 5 }),
  ]);
});

test("the stream of a canceled call ends, other streams continue, and the ID of a running one is refused", async () => {
  const served = await serve();
  const session = await beginSession(served);
  const params = { requestId: "one" };
  const one = post(served, calling("slow", "one"), session);
  const two = post(served, calling("slow", "two"), session);
  await expect.poll(() => served.slowCalls.length).toBe(2);
  const cancelled = await post(
    served,
    { jsonrpc: "2.0", method: "notifications/cancelled", params },
    session,
  );
  expect(cancelled.status).toBe(202);
  expect(await messagesOf(await one)).toEqual([]);
  expect(served.slowCalls.filter(({ signal }) => signal.aborted)).toHaveLength(1);
  expect((await post(served, calling("echo", "two"), session)).status).toBe(400);
  for (const call of served.slowCalls) call.finish();
  expect(await messagesOf(await two)).toEqual([expect.objectContaining({ id: "two" })]);
  expect((await post(served, calling("echo", "two"), session)).status).toBe(200);
});
