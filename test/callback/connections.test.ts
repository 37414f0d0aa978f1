import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { openConnection } from "../mcp/http/raw-connection.ts";
import { createRequest, openEndpoint, post } from "./open-endpoint.ts";
import { formatHead } from "./raw-request.ts";

const calling = (tool: string) => createRequest({}, { tool_name: tool });
const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);

describe("the body of a request", () => {
  test("a body may arrive in chunks that split characters", async () => {
    const opened = await openEndpoint();
    const connection = await openConnection(opened.endpoint.port);
    await connection.send(formatHead(opened, { "Transfer-Encoding": "chunked" }));
    const bytes = Buffer.from(JSON.stringify(calling("grüß_😀")));
    for (const byte of bytes) {
      await connection.send(Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")]));
    }
    await connection.send("0\r\n\r\n");
    expect(statusesOf(await connection.answers(1))).toEqual([200]);
    expect(opened.calls.map(({ toolName }) => toolName)).toEqual(["grüß_😀"]);
  });
});

describe("the port of the endpoint", () => {
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
      .map(({ address, family, scopeid }) =>
        family === "IPv6" && scopeid ? `${address}%${scopeid}` : address,
      )
      .filter((address) => address !== "127.0.0.1" && !address.startsWith("fe80"));
    // All of 127.0.0.0/8 is this machine on Linux.
    if (process.platform === "linux") others.push("127.0.0.2");
    for (const address of others) {
      expect(await tryToConnect(endpoint.port, address), address).not.toBe("connected");
    }
  });

  test("each endpoint has its own port and accepts only its own tokens", async () => {
    const [one, other] = [await openEndpoint(), await openEndpoint()];
    expect(one.endpoint.port).not.toBe(other.endpoint.port);
    expect((await post({ ...one, token: other.token })).status).toBe(401);
    expect((await post(one)).status).toBe(200);
  });
});
