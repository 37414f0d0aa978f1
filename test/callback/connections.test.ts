import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { openConnection } from "../mcp/http/raw-connection.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { createRequest, formatHead, openEndpoint } from "./open-endpoint.ts";

test("a body may arrive in chunks that split characters", async () => {
  const opened = await openEndpoint();
  const connection = await openConnection(opened.endpoint.port);
  await connection.send(formatHead(opened, { "Transfer-Encoding": "chunked" }));
  const bytes = Buffer.from(JSON.stringify(createRequest({}, { tool_name: "grüß_😀" })));
  for (const byte of bytes) {
    await connection.send(Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")]));
  }
  await connection.send("0\r\n\r\n");
  expect(await connection.answers(1)).toMatchObject([{ status: 200 }]);
  expect(opened.calls.map(({ toolName }) => toolName)).toEqual(["grüß_😀"]);
});

const tryToConnect = async (port: number, host: string): Promise<string> => {
  const socket = connect({ port, host, timeout: 5000 });
  const outcome = await Promise.race([
    once(socket, "connect").then(() => "connected"),
    once(socket, "timeout").then(() => "silent"),
  ]).catch(() => "refused");
  socket.destroy();
  return outcome;
};

test("the endpoint listens on 127.0.0.1 and on no other address of this machine", async () => {
  const { endpoint } = await openEndpoint();
  expect(endpoint.baseUrl).toBe(`http://127.0.0.1:${endpoint.port}`);
  expect(await tryToConnect(endpoint.port, "127.0.0.1")).toBe("connected");
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const others = own
    .map(({ address, family, scopeid }) => (family === "IPv6" && scopeid ? `${address}%${scopeid}` : address))
    .filter((address) => address !== "127.0.0.1" && !address.startsWith("fe80"));
  // All of 127.0.0.0/8 is this machine on Linux.
  if (process.platform === "linux") others.push("127.0.0.2");
  for (const address of others) {
    expect(await tryToConnect(endpoint.port, address), address).not.toBe("connected");
  }
});

/** Runs a module that has opened an endpoint, with two idle connections, of which one has sent a part of a request. */
function runHost(afterwards: string) {
  const script = `
    import { once } from "node:events";
    import { connect } from "node:net";
    import { openCallbackEndpoint } from ${JSON.stringify(inRepository("src/callback/callback-endpoint.ts"))};
    const endpoint = await openCallbackEndpoint({
      sessionId: "s",
      limits: { enabled: true, timeoutMs: 600000, maxDepth: 16, maxBodyBytes: 4096, bodyTimeoutMs: 600000 },
      findInvocation: () => undefined,
    });
    const idle = connect(endpoint.port, "127.0.0.1").on("error", () => {});
    const calling = connect(endpoint.port, "127.0.0.1").on("error", () => {});
    await Promise.all([once(idle, "connect"), once(calling, "connect")]);
    await new Promise((resolve) => calling.write("POST /scripting/callback HTTP/1.1\\r\\n", resolve));
    ${afterwards}
  `;
  const node = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", script];
  return runProcess(process.execPath, node, { cwd: inRepository("."), env: process.env, timeoutMs: 30_000 });
}

test("an open endpoint does not keep its process running, whatever is connected", async () => {
  const host = await runHost("idle.unref(); calling.unref(); process.stdout.write('over');");
  expect(host).toEqual({ stdout: "over", stderr: "", exitCode: 0 });
});
