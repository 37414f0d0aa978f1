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
