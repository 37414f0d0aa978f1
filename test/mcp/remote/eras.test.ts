import { describe, expect, test } from "vitest";
import type { CallToolResult } from "../../../src/runtime/tool-result.ts";
import { firstText } from "../../support/first-text.ts";
import { type RemoteServer, serveLegacy, serveModern } from "../../support/remote-servers.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { revision } from "../modern/modern-served.ts";
import { call, startRemote } from "./start-remote.ts";

const textOf = (result: CallToolResult) => JSON.parse(String(firstText(result)));
interface Serving extends RemoteServer {
  slow: { canceled: number };
  sessions?: ReadonlyMap<string, unknown>;
}

const servers: Record<string, () => Promise<Serving>> = {
  "the first SDK": () => serveLegacy(),
  "the second SDK without legacy clients": () => serveModern({ legacy: "reject" }),
};

describe.each(Object.entries(servers))("a remote server of %s", (name, serve) => {
  const era = name.endsWith("clients") ? "modern" : "legacy";

  test(`the session speaks ${era} with a server of ${name}, lists its tools and calls them`, async () => {
    const remote = await serve();
    const server = await startRemote(remote.url, { headers: { "X-Key": "abc" } }).ready;
    expect(server).toMatchObject({ era, protocolVersion: era === "modern" ? revision : "2025-11-25" });
    expect(server.tools.map(({ name: tool }) => tool)).toEqual(["echo", "fail", "slow"]);
    const result = await server.call("tools/call", call("echo", { text: "é" }));
    expect(textOf(result).args).toEqual({ text: "é" });
    expect(await server.call("tools/call", call("fail"))).toMatchObject({ isError: true });
    const calls = remote.received.filter(({ message }) => message?.method === "tools/call");
    expect(calls).toHaveLength(2);
    expect(calls[0]?.message.params._meta).toMatchObject({ trailblaze: { a: 1 } });
    expect(remote.received.every(({ headers }) => headers["x-key"] === "abc")).toBe(true);
  });

  test(`an aborted call of a server of ${name} is canceled there`, async () => {
    const remote = await serve();
    const server = await startRemote(remote.url).ready;
    const stop = new AbortController();
    const called = server.call("tools/call", call("slow"), { signal: stop.signal }).catch((error) => error);
    await waitUntil(() => remote.methods().includes("tools/call"));
    stop.abort(new Error("enough"));
    expect(await called).toMatchObject({ message: "enough" });
    await waitUntil(() => remote.slow.canceled === 1);
    const cancellations = remote.methods().filter((method) => method === "notifications/cancelled");
    expect(cancellations).toHaveLength(era === "modern" ? 0 : 1);
  });

  test(`closing ends every connection to a server of ${name}`, async () => {
    const remote = await serve();
    const starting = startRemote(remote.url);
    const server = await starting.ready;
    const called = server.call("tools/call", call("slow")).catch((error) => error);
    await waitUntil(() => remote.methods().includes("tools/call"));
    await starting.close();
    expect(await called).toMatchObject({ message: expect.stringContaining("is closed") });
    await expect(server.call("tools/call", call("echo"))).rejects.toMatchObject({
      message: expect.stringContaining("is closed"),
    });
    expect([...(remote.sessions ?? new Map()).keys()]).toEqual([]);
  });
});

test("the modern protocol begins with `server/discover` and never falls back to `initialize`", async () => {
  const modern = await serveModern();
  expect((await startRemote(modern.url, { protocol: "modern" }).ready).era).toBe("modern");
  expect(modern.methods()[0]).toBe("server/discover");
  const legacy = await serveLegacy();
  await expect(startRemote(legacy.url, { protocol: "modern" }).ready).rejects.toMatchObject({
    code: "ServerStartFailed",
  });
  expect(legacy.methods()).toEqual(["server/discover"]);
});

test("a modern server tells that its tools have changed, until the connection is closed", async () => {
  const modern = await serveModern({ legacy: "reject" });
  const starting = startRemote(modern.url);
  await starting.ready;
  const findSubscription = () =>
    modern.received.find(({ message }) => message?.method === "subscriptions/listen");
  await waitUntil(() => {
    modern.changeTools();
    return starting.listChanges() > 0;
  });
  expect(findSubscription()?.isAborted).toBe(false);
  await starting.close();
  await waitUntil(() => findSubscription()?.isAborted === true);
});
