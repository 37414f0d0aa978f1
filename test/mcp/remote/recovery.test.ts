import { expect, test } from "vitest";
import { sendJson, serveHttp, serveRaw } from "../../support/remote-servers.ts";
import { call, limit, startRemote } from "./start-remote.ts";

const answer: Parameters<typeof serveRaw>[0] = ({ message }, _request, response) =>
  sendJson(response, 200, { jsonrpc: "2.0", id: message.id, result: { content: [] } });

test("a server that a call does not reach has exited, and so its other calls fail", async () => {
  const remote = await serveRaw(answer);
  const server = await startRemote(remote.url).ready;
  await remote.stop();
  const exit = {
    isLost: true,
    exitCode: null,
    signal: null,
    reason: expect.stringContaining("ECONNREFUSED"),
  };
  await expect(server.callTool(call("echo"), limit)).rejects.toMatchObject({ reason: "exited", exit });
  expect(await server.exit).toMatchObject(exit);
  const after = await serveRaw(answer, remote.port);
  await expect(server.callTool(call("echo"), limit)).rejects.toMatchObject({ reason: "exited" });
  expect(after.received).toEqual([]);
});

test("a server that answers with errors has not exited", async () => {
  let isDown = true;
  const remote = await serveRaw((received, request, response) =>
    isDown ? response.writeHead(503).end() : answer(received, request, response),
  );
  const server = await startRemote(remote.url).ready;
  await expect(server.callTool(call("echo"), limit)).rejects.toMatchObject({ reason: "protocol" });
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
