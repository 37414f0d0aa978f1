import { describe, expect, test } from "vitest";
import { hearProgress } from "../../support/heard-progress.ts";
import { connectClient, serve, textOf } from "./served.ts";

describe("the SDK's HTTP client", () => {
  test("the SDK's client lists and calls tools, and gets progress", async () => {
    const served = await serve();
    const { client, transport } = await connectClient(served);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("echo");
    expect(textOf(await client.callTool({ name: "echo", arguments: { a: [1] } }))).toBe('{"a":[1]}');
    expect(textOf(await client.callTool({ name: "session" }))).toBe(JSON.stringify(transport.sessionId));
    const heard = hearProgress(client);
    await client.callTool({ name: "progress" }, undefined, { onprogress: () => {} });
    expect(heard).toMatchObject([{ progress: 1 }, { progress: 2 }, { progress: 3 }]);
  });

  test("each client has its own session, and calls of several clients run in parallel", async () => {
    const served = await serve();
    const clients = await Promise.all([1, 2, 3].map(() => connectClient(served)));
    const slow = clients.map(({ client }) => client.callTool({ name: "slow" }));
    await expect.poll(() => served.slowCalls.length).toBe(3);
    const answers = await Promise.all(
      clients.map(({ client }, index) => client.callTool({ name: "echo", arguments: { index } })),
    );
    expect(answers.map(textOf)).toEqual(['{"index":0}', '{"index":1}', '{"index":2}']);
    expect(new Set(served.slowCalls.map(({ sessionId }) => sessionId))).toEqual(
      new Set(clients.map(({ transport }) => transport.sessionId)),
    );
    for (const { finish } of served.slowCalls) finish();
    expect((await Promise.all(slow)).map(textOf)).toEqual(['"slow"', '"slow"', '"slow"']);
  });

  test("a client can cancel a call while other calls of its session continue", async () => {
    const served = await serve();
    const { client } = await connectClient(served);
    const stop = new AbortController();
    const stopped = client.callTool({ name: "slow" }, undefined, { signal: stop.signal });
    const other = client.callTool({ name: "slow" });
    await expect.poll(() => served.slowCalls.length).toBe(2);
    stop.abort();
    await expect(stopped).rejects.toThrow();
    await expect.poll(() => served.slowCalls[0]?.signal.aborted).toBe(true);
    expect(served.slowCalls[1]?.signal.aborted).toBe(false);
    served.slowCalls[1]?.finish();
    expect(textOf(await other)).toBe('"slow"');
  });

  test("a client that ends its session closes only its own server", async () => {
    const served = await serve();
    const one = await connectClient(served);
    const other = await connectClient(served);
    await one.transport.terminateSession();
    expect(served.closed).toEqual([served.made[0]]);
    expect(textOf(await other.client.callTool({ name: "echo" }))).toBe("{}");
  });

  test("a client can call with a token, and without a session if the server has none", async () => {
    const served = await serve({ token: "s3cret", stateless: true });
    const { client, transport } = await connectClient(served, { authorization: "Bearer s3cret" });
    expect(transport.sessionId).toBeUndefined();
    expect(textOf(await client.callTool({ name: "echo", arguments: { b: 2 } }))).toBe('{"b":2}');
    const ids = [await client.callTool({ name: "session" }), await client.callTool({ name: "session" })].map(
      textOf,
    );
    expect(new Set(ids).size).toBe(2);
    await expect.poll(() => served.closed.length).toBe(served.made.length);
    await expect(connectClient(served, { authorization: "Bearer other" })).rejects.toThrow();
  });

  test("handlers do not get the client's token", async () => {
    const served = await serve({ token: "s3cret" });
    const { client } = await connectClient(served, { authorization: "Bearer s3cret", cookie: "a=b" });
    const seen = textOf(await client.callTool({ name: "headers" }));
    expect(seen).toContain("application/json");
    expect(seen).not.toMatch(/s3cret|cookie/);
  });
});
