import { PassThrough, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ServeStdioOptions, serveStdio } from "../../../src/mcp/stdio/serve-stdio.ts";
import { createTestServers } from "../../serve/test-servers.ts";
import { calling, initializing } from "../http/served.ts";

interface Message {
  id?: unknown;
  error?: { code: number; message: string };
  result?: unknown;
}

async function serve(options: Partial<ServeStdioOptions> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const servers = createTestServers();
  let ends = 0;
  let text = "";
  output.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const served = await serveStdio(servers.create("one"), {
    input,
    output,
    graceMs: 200,
    onEnd: () => void ends++,
    ...options,
  });
  onTestFinished(() => served.close());
  const messages = (): Message[] =>
    text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return {
    ...servers,
    ...served,
    input,
    output,
    ends: () => ends,
    messages,
    say: (...lines: unknown[]) => {
      for (const line of lines) input.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    },
    untilMessages: (count: number) => expect.poll(() => messages().length).toBe(count),
  };
}

const begin = [initializing(1), { jsonrpc: "2.0", method: "notifications/initialized" }];

describe("lines on stdin", () => {
  test("a line may arrive in chunks that split characters, end in CRLF, or be empty", async () => {
    const served = await serve();
    served.say(...begin, "", "   ", "\t\r");
    for (const byte of Buffer.from(`${JSON.stringify(calling("echo", 2, { text: "grüß 😀" }))}\r\n`)) {
      served.input.write(Buffer.from([byte]));
    }
    await served.untilMessages(2);
    expect(served.echoed).toEqual([{ text: "grüß 😀" }]);
  });

  test("lines that are no messages are skipped, and the next line is read", async () => {
    const served = await serve();
    served.say(...begin);
    const skipped = [
      "{",
      "hello",
      "null",
      "[]",
      JSON.stringify([calling("echo", 3)]),
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    ];
    served.say(...skipped);
    served.input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    served.say('{"jsonrpc":"1.0","id":4,"method":"ping"}');
    served.say('{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}');
    served.say(calling("echo", 5, { still: "here" }));
    await served.untilMessages(2);
    expect(served.messages().map(({ id }) => id)).toEqual([1, 5]);
    expect(served.echoed).toEqual([{ still: "here" }]);
    expect(served.ends()).toBe(0);
  });

  test("a line above the limit is skipped, however it is split", async () => {
    const ping = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    const most = 10 * 2 ** 20;
    const served = await serve();
    served.say(...begin, ping(2).padEnd(most));
    await served.untilMessages(2);
    for (let part = 0; part < 20; part++) served.input.write("x".repeat(most / 14));
    served.input.write(`${ping(3)}\n${ping(4)}\n${"y".repeat(2 * most)}\n`);
    served.input.write(`${"z".repeat(most + 1)}\r\n${ping(5)}\n`);
    await expect.poll(() => served.messages().at(-1)?.id).toBe(5);
    expect(served.messages().map(({ id }) => id)).toEqual([1, 2, 4, 5]);
    expect(served.ends()).toBe(0);
    served.input.end("w".repeat(3 * most));
    await expect.poll(served.ends).toBe(1);
  });
});

describe("the end of a stdio server", () => {
  test("a server ends once, even for several reasons at the same time, and aborts running calls", async () => {
    const served = await serve();
    served.say(...begin, calling("slow", 2));
    await expect.poll(() => served.slowCalls.length).toBe(1);
    await Promise.all([served.close(), served.close()]);
    served.input.end();
    served.output.destroy();
    // Proves that no second end is reported.
    await delay(50);
    expect(served.ends()).toBe(1);
    expect(served.slowCalls[0]?.signal.aborted).toBe(true);
    expect(served.closed).toHaveLength(1);
  });

  test("a server ends immediately if stdout fails, and aborts running calls", async () => {
    const served = await serve({ graceMs: 60_000 });
    served.say(...begin, calling("slow", 2));
    await expect.poll(() => served.slowCalls.length).toBe(1);
    served.output.destroy(new Error("EPIPE"));
    await expect.poll(served.ends).toBe(1);
    expect(served.slowCalls[0]?.signal.aborted).toBe(true);
  });

  test("a client that stops reading does not hold the end back longer than the time for it", async () => {
    const output = new Writable({ write: () => {} });
    const served = await serve({ output, graceMs: 50 });
    served.say(...begin);
    await expect.poll(() => output.writableLength).toBeGreaterThan(0);
    served.input.end();
    await expect.poll(served.ends).toBe(1);
  });

  test("a server ends only after all of its output is written", async () => {
    const written: string[] = [];
    const output = new Writable({
      write: (chunk, _encoding, done) => {
        setTimeout(() => {
          written.push(String(chunk));
          done();
        }, 200);
      },
    });
    const served = await serve({ output, graceMs: 60_000 });
    served.say(...begin);
    await expect.poll(() => output.writableLength).toBeGreaterThan(0);
    await served.close();
    expect(written.filter((chunk) => chunk !== "")).toHaveLength(1);
    expect(served.ends()).toBe(1);
  });
});
