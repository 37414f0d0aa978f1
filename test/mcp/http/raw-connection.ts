import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import { collect } from "../../support/processes.ts";

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** A connection on which anything can be sent. */
export interface RawConnection {
  readonly socket: Socket;
  /** Resolves with all that came. */
  readonly closed: Promise<string>;
  received(): string;
  /** Resolves once the bytes are handed over. */
  send(data: string | Uint8Array): Promise<void>;
  /** Waits for so many final answers, or the end of the connection, and gives those that came. */
  answers(count: number): Promise<RawAnswer[]>;
}

export async function openConnection(port: number, host = "127.0.0.1"): Promise<RawConnection> {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
  const text = collect(socket.setEncoding("utf8"));
  // Being cut off is what some tests are about.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text())));
  await once(socket, "connect");
  return {
    socket,
    closed,
    received: text,
    send: (data) => new Promise((resolve) => socket.write(data, () => resolve())),
    async answers(count) {
      const arrived = () => parseAnswers(text()).length >= count;
      await Promise.race([closed, vi.waitUntil(arrived, { timeout: 30_000, interval: 5 })]);
      return parseAnswers(text());
    },
  };
}

/** Splits what came into answers, by their content-length. */
function parseAnswers(text: string): RawAnswer[] {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return [];
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.replace(/:.*/, "").toLowerCase(), line.replace(/^.*?: */, "")]),
  );
  const rest = Buffer.from(text.slice(end + 4));
  const length = Number(headers.get("content-length") ?? 0);
  if (rest.length < length) return [];
  const answer = { status: statusOf(`${first} `), headers, body: rest.subarray(0, length).toString() };
  return [answer, ...parseAnswers(rest.subarray(length).toString())].filter(({ status }) => status !== 100);
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
