import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A connection on which anything can be sent. */
export interface RawConnection {
  readonly socket: Socket;
  /** Resolves with all that came. */
  readonly closed: Promise<string>;
  received(): string;
}

export async function openConnection(port: number, host = "127.0.0.1"): Promise<RawConnection> {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  // Being cut off is what some tests are about.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  await once(socket, "connect");
  return { socket, closed, received: () => text };
}

/** The text of a request; a header of `undefined` is left out, of a list repeated. */
export function formatRequest(
  port: number,
  message: unknown,
  headers: Record<string, string | readonly string[] | undefined> = {},
  line = "POST /mcp HTTP/1.1",
): string {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const all = {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `${line}\r\n${lines.join("")}\r\n${body}`;
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
