// What becomes of answers that are being sent when the server closes.
import { expect, onTestFinished, test } from "vitest";
import { listenForHttp } from "../../../src/mcp/http/http-server.ts";
import { openConnection } from "./raw-connection.ts";

const limits = {
  maxBodyBytes: 1000,
  bodyTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  maxConnections: 10,
};

test("an answer that a slow client has not read yet is sent to its end, and a silent client is left", async () => {
  const body = "x".repeat(32 << 20);
  let isSent = false;
  const server = await listenForHttp({
    ...limits,
    host: "127.0.0.1",
    port: 0,
    async answer({ over, read }) {
      await read();
      over.addEventListener("abort", () => {
        isSent = true;
      });
      return new Response(body);
    },
  });
  onTestFinished(() => server.close(0));
  const silent = await openConnection(server.port);
  const { socket, received } = await openConnection(server.port);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(received).toContain("200 OK");
  socket.pause();
  const closed = server.close(60_000);
  await silent.closed;
  expect(isSent).toBe(false);
  socket.resume();
  await closed;
  expect(isSent).toBe(true);
  await expect.poll(() => received().length).toBeGreaterThan(body.length);
});
