import { expect, test } from "vitest";
import { createManualClock } from "../../session/support/manual-clock.ts";
import { sendJson, serveHttp, serveRaw } from "../../support/remote-servers.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { advanceToNext, call, limit, startRemote } from "./start-remote.ts";

const answer: Parameters<typeof serveRaw>[0] = ({ message }, _request, response) =>
  sendJson(response, 200, { jsonrpc: "2.0", id: message.id, result: { content: [] } });

test("a call to a server that is unreachable is sent when it is reachable again", async () => {
  const before = await serveRaw(answer);
  const clock = createManualClock();
  const server = await startRemote(before.url, { clock }).ready;
  await before.stop();
  const called = server.callTool(call("echo"), limit);
  await waitUntil(() => clock.delays.length > 0);
  // The first probe fails, because nothing listens yet.
  advanceToNext(clock);
  await waitUntil(() => clock.delays.length > 0);
  const after = await serveRaw(answer, before.port);
  await waitUntil(() => {
    if (after.received.length === 0) advanceToNext(clock);
    return after.received.length > 0;
  });
  expect(await called).toEqual({ content: [] });
  expect(after.methods()).toEqual(["tools/call"]);
  expect(clock.now()).toBeLessThan(60_000);
});

test("a call that ends while its server is unreachable is never sent", async () => {
  const before = await serveRaw(answer);
  const clock = createManualClock();
  const server = await startRemote(before.url, { clock }).ready;
  await before.stop();
  const stop = new AbortController();
  const called = server.callTool(call("echo"), { ...limit, signal: stop.signal }).catch((error) => error);
  await waitUntil(() => clock.delays.length > 0);
  stop.abort(new Error("enough"));
  expect(await called).toMatchObject({ message: "enough" });
  const after = await serveRaw(answer, before.port);
  await waitUntil(() => {
    advanceToNext(clock);
    return after.received.length > 0;
  });
  expect(await server.callTool(call("echo"), limit)).toEqual({ content: [] });
  expect(after.methods().filter((method) => method === "tools/call")).toHaveLength(1);
});

test("a server that is unreachable for 60 s from its first failed try is lost, and so are its calls", async () => {
  const remote = await serveRaw(answer);
  const clock = createManualClock();
  const server = await startRemote(remote.url, { clock }).ready;
  await remote.stop();
  const called = server.callTool(call("echo"), limit).catch((error) => error);
  let isLost = false;
  void server.exit.then(() => {
    isLost = true;
  });
  await waitUntil(() => {
    advanceToNext(clock);
    return isLost;
  });
  expect(clock.now()).toBe(60_000);
  const exit = { isUnreachable: true, exitCode: null, signal: null, reason: expect.stringContaining("60 s") };
  expect(await server.exit).toMatchObject(exit);
  expect(await called).toMatchObject({ reason: "exited", exit });
  await expect(server.callTool(call("echo"), limit)).rejects.toMatchObject({ reason: "exited" });
});

test("a server that answers with errors is reachable", async () => {
  let isDown = true;
  const remote = await serveRaw((received, request, response) =>
    isDown ? response.writeHead(503).end() : answer(received, request, response),
  );
  const clock = createManualClock();
  const server = await startRemote(remote.url, { clock }).ready;
  await expect(server.callTool(call("echo"), limit)).rejects.toMatchObject({ reason: "protocol" });
  expect(advanceToNext(clock)).toBe(false);
  isDown = false;
  expect(await server.callTool(call("echo"), limit)).toEqual({ content: [] });
});

test("a server whose handshake is refused by the network is tried once", async () => {
  let connections = 0;
  const remote = await serveHttp((_received, request) => {
    connections += 1;
    request.socket.destroy();
  });
  await expect(startRemote(remote.url).ready).rejects.toMatchObject({ code: "ServerStartFailed" });
  expect(connections).toBe(1);
});
