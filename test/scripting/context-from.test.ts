import { describe, expect, test } from "vitest";
import { clientFrom, contextFrom, OutsideSessionError } from "../../packages/scripting/src/index.ts";
import { createCallMeta, createLegacyContext } from "../../src/session/calls.ts";

const device = { platform: "ANDROID", widthPixels: 1080, heightPixels: 2400, driverType: "android-host" };
const ids = { sessionId: "s-1", invocationId: "i-1" };
const baseUrl = "http://127.0.0.1:1";
const memory = { userId: "42" };

describe("contextFrom", () => {
  test("contextFrom reads the context from `_meta` first, and always returns one shape", () => {
    const _meta = { trailblaze: createCallMeta(ids, baseUrl, memory, device), progressToken: 1 };
    const legacy = { _trailblazeContext: createLegacyContext({ userId: "old" }, device) };
    expect(contextFrom(legacy, { _meta, signal: undefined })).toEqual({ ...ids, baseUrl, memory, device });
    expect(contextFrom(legacy, { _meta: {} })).toEqual({ memory: { userId: "old" }, device });
    expect(contextFrom(legacy)).toEqual({ memory: { userId: "old" }, device });
  });

  test("contextFrom returns undefined under another MCP client", () => {
    expect(contextFrom({ text: "x" }, { _meta: { progressToken: 1 } })).toBeUndefined();
    expect(contextFrom(undefined, undefined)).toBeUndefined();
    expect(contextFrom({ _trailblazeContext: "x" }, { _meta: { trailblaze: [] } })).toBeUndefined();
    const inherited = Object.create({ _trailblazeContext: { memory: {}, device: null } }) as object;
    expect(contextFrom(inherited)).toBeUndefined();
  });

  test("contextFrom excludes invalid parts of a context, and copies memory", () => {
    const trailblaze = { sessionId: 7, invocationId: null, device: "phone", memory: null };
    expect(contextFrom({}, { _meta: { trailblaze } })).toEqual({ device: null, memory: {} });
    const memory = { a: "1" };
    const context = contextFrom({ _trailblazeContext: { memory, device: null } });
    expect(context?.memory).not.toBe(memory);
  });
});

describe("clientFrom", () => {
  const environment = {
    TRAILBLAZE_BASE_URL: "http://127.0.0.1:1",
    TRAILBLAZE_SESSION_TOKEN: "t",
    TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: "500",
  };
  const call = { device: null, memory: {}, sessionId: "s", invocationId: "i" };

  test("outside a session, a client's calls reject with the reason", async () => {
    for (const client of [
      clientFrom(undefined),
      clientFrom({ device: null, memory: {} }, { environment }),
      clientFrom(call, { environment: {} }),
    ]) {
      await expect(client.callTool("a_b")).rejects.toThrow(OutsideSessionError);
    }
    await expect(clientFrom(undefined).callTool("a_b")).rejects.toThrow("outside a Trailblaze session");
  });

  test("a client can be awaited and printed without a call", async () => {
    const { tools } = clientFrom(undefined);
    expect(await Promise.resolve(tools)).toBe(tools);
    expect(Object.prototype.toString.call(tools)).toBe("[object Object]");
  });

  test("a client rejects arguments that are not an object, and addresses of other machines", async () => {
    const client = clientFrom(call, { environment });
    await expect(client.callTool("a_b", [] as never)).rejects.toThrow("must be an object");
    await expect(client.callTool("a_b", null as never)).rejects.toThrow("must be an object");
    const elsewhere = { ...environment, TRAILBLAZE_BASE_URL: "http://192.0.2.1:80" };
    await expect(clientFrom(call, { environment: elsewhere }).callTool("a_b")).rejects.toThrow("192.0.2.1");
  });
});
