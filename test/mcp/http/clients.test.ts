import { describe, expect, test } from "vitest";
import { connectClient, serve, textOf } from "./served.ts";

describe("the SDK's HTTP client", () => {
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
