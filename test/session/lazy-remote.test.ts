// Remote servers that start when they are needed. Each server and session ends with its test.
import { describe, expect, test } from "vitest";
import {
  addPromptAndResources,
  serveHttp,
  serveLegacy,
  serveModern,
  serveRaw,
} from "../support/remote-servers.ts";
import { waitUntil } from "../support/wait-until.ts";
import { makeLocked, open, openWithClock } from "./support/lazy.ts";

const makeRemote = (url: string, entry: object = {}) =>
  makeLocked({ logDir: "logs", mcpServers: { docs: { url, ...entry } } });

describe.each([
  ["legacy", () => serveLegacy(0, addPromptAndResources)],
  ["modern", () => serveModern({ legacy: "reject", add: addPromptAndResources })],
] as const)("a remote server of the %s era that starts when it is needed", (era, serve) => {
  test("gets no request before a call needs it, and one start for all calls", async () => {
    const remote = await serve();
    const cwd = await makeRemote(remote.url);
    const eager = await open(cwd, { start: "eager" });
    const before = remote.received.length;
    const connected: string[] = [];
    const session = await open(cwd, { onConnect: ({ label }) => connected.push(label) });
    for (const list of ["tools", "prompts", "resources"] as const)
      expect(JSON.stringify(session[list])).toBe(JSON.stringify(eager[list]));
    expect(session.servers).toMatchObject([
      { label: "docs", state: "idle", era: null, protocolVersion: null, serverInfo: null },
    ]);
    expect(remote.received).toHaveLength(before);
    const calls = Array.from({ length: 10 }, () => session.callTool("echo", { text: "a" }));
    for (const call of calls) await expect(call).resolves.toMatchObject({ variant: "Success" });
    await expect(session.getPrompt("summarize", { topic: "x" })).resolves.toMatchObject({
      messages: [{ content: { text: "About x" } }],
    });
    await expect(session.readResource("docs://readme")).resolves.toMatchObject({
      contents: [{ text: "text of docs://readme" }],
    });
    expect(connected).toEqual(["docs"]);
    expect(session.servers).toMatchObject([{ state: "running", era, serverInfo: { name: era } }]);
  });

  test("is left when it is idle, but not in the middle of a call, and the next call starts it again", async () => {
    const remote = await serve();
    const cwd = await makeRemote(remote.url, { idleMs: 1000 });
    const connected: string[] = [];
    const { session, clock } = await openWithClock(cwd, {
      onConnect: ({ label }) => connected.push(label),
    });
    const stop = new AbortController();
    const slow = session.callTool("slow", {}, { signal: stop.signal });
    slow.catch(() => {});
    await waitUntil(() => remote.received.some(({ message }) => message?.params?.name === "slow"));
    clock.advance(100_000);
    expect(session.servers).toMatchObject([{ state: "running" }]);
    stop.abort(new Error("enough"));
    await expect(slow).rejects.toThrow("enough");
    clock.advance(1000);
    expect(session.servers).toMatchObject([{ state: "idle", era }]);
    const { sessions = new Map() } = remote as Partial<Awaited<ReturnType<typeof serveLegacy>>>;
    await waitUntil(() => sessions.size === 0);
    await expect(session.callTool("echo", {})).resolves.toMatchObject({ variant: "Success" });
    expect(connected).toEqual(["docs", "docs"]);
    expect(session.problems).toEqual([]);
  });
});

test("a session that closes while a remote server does not answer leaves no request behind", async () => {
  const remote = await serveRaw(() => {});
  const cwd = await makeRemote(remote.url);
  await remote.stop();
  const silent = await serveHttp(() => {}, remote.port);
  const session = await open(cwd);
  const call = session.callTool("echo", {});
  call.catch(() => {});
  await waitUntil(() => silent.received.length > 0);
  await session.close();
  await expect(call).rejects.toMatchObject({ code: "SessionClosed" });
  await waitUntil(() => silent.received.every(({ isAborted }) => isAborted));
});
