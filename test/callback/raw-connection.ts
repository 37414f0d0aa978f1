import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { OpenedEndpoint } from "./open-endpoint.ts";

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

/** A connection on which anything can be sent. */
export class RawConnection {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  #received = "";

  constructor(socket: Socket) {
    this.socket = socket;
    // Not `once`, which would reject when it is cut off.
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.setEncoding("utf8").on("data", (text: string) => {
      this.#received += text;
    });
    // Being cut off is what some tests are about.
    socket.on("error", () => {});
  }

  get received(): string {
    return this.#received;
  }

  /** Resolves once the bytes are handed over. */
  send(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(data, () => resolve()));
  }

  /** Waits for so many final answers, or the end of the connection, and gives those that came. */
  async answers(count: number): Promise<RawAnswer[]> {
    for (;;) {
      const answers = parseAnswers(this.#received);
      if (answers.length >= count || this.socket.closed) return answers;
      const stop = new AbortController();
      const { signal } = stop;
      await Promise.race([once(this.socket, "data", { signal }), this.closed]).catch(() => {});
      stop.abort();
    }
  }

  /** The statuses of everything that came until the connection ended. */
  async statusesUntilClosed(): Promise<number[]> {
    await this.closed;
    return parseAnswers(this.#received).map(({ status }) => status);
  }
}

/** Splits what came into answers, by their content-length. */
function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = Buffer.from(text);
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return answers;
    const [first = "", ...lines] = rest.subarray(0, end).toString().split("\r\n");
    const headers = new Map(
      lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const length = Number(headers.get("content-length") ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    rest = rest.subarray(end + 4 + length);
    if (status !== 100) answers.push({ status, headers, body: body.toString() });
  }
}

export async function openConnection({ endpoint }: Pick<OpenedEndpoint, "endpoint">): Promise<RawConnection> {
  const socket = connect(endpoint.port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  return new RawConnection(socket);
}

/** The head of a valid request, up to the empty line; a header of `undefined` is left out, of a list repeated. */
export function formatHead(
  { endpoint, token }: Pick<OpenedEndpoint, "endpoint" | "token">,
  headers: Record<string, string | readonly string[] | undefined> = {},
  line = "POST /scripting/callback HTTP/1.1",
): string {
  const all = {
    Host: `127.0.0.1:${endpoint.port}`,
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `${line}\r\n${lines.join("")}\r\n`;
}

/** A whole request with its body's length. */
export function formatRequest(
  opened: Pick<OpenedEndpoint, "endpoint" | "token">,
  body: unknown,
  headers: Record<string, string | readonly string[] | undefined> = {},
): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return `${formatHead(opened, { "Content-Length": String(Buffer.byteLength(text)), ...headers })}${text}`;
}
