import { describe, expect, test } from "vitest";
import { call, outcome, startFixture } from "./start-fixture.ts";

const textOf = (answer: unknown) => (answer as { content: { text: string }[] }).content[0]?.text ?? "";

describe("a well-behaved server", () => {
  test("a server is known by its name and its tools, and answers calls with arguments and metadata", async () => {
    const server = await startFixture().ready;
    expect(server.serverInfo).toEqual({ name: "fixture", version: "1.2.3" });
    expect(server.tools.map(({ name }) => name)).toContain("echo");
    const result = await server.call("tools/call", call("echo", { a: 1 }, { trailblaze: { x: 1 } }));
    expect(result).toEqual({
      content: [{ type: "text", text: '{"a":1}' }],
      _meta: { got: { trailblaze: { x: 1 } } },
    });
  });

  test("a server answers many calls at once, and large ones", async () => {
    const server = await startFixture().ready;
    const many = Array.from({ length: 20 }, (_, i) => server.call("tools/call", call("echo", { i })));
    expect((await Promise.all(many)).map(textOf)).toEqual(many.map((_, i) => `{"i":${i}}`));
    const long = "y".repeat(3e6);
    expect(textOf(await server.call("tools/call", call("echo", { long })))).toBe(JSON.stringify({ long }));
  });
});

describe("progress of a call", () => {
  test("requested progress arrives in order, up to the last one before the answer", async () => {
    const server = await startFixture().ready;
    const seen: unknown[] = [];
    await server.call("tools/call", call("progress", { steps: 3 }), {
      onProgress: (step) => seen.push(step),
    });
    expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
  });

  test("progress does not extend the timeout of a call", async () => {
    const server = await startFixture().ready;
    let steps = 0;
    const onProgress = () => steps++;
    const error = await outcome(
      server.call("tools/call", call("drip"), { signal: AbortSignal.timeout(400), onProgress }),
    );
    expect(error).toMatchObject({ name: "TimeoutError" });
    expect(steps).toBeGreaterThan(1);
  });
});

describe("a canceled call", () => {
  const cancellations = async (server: Awaited<ReturnType<typeof startFixture>["ready"]>) => {
    const received = JSON.parse(textOf(await server.call("tools/call", call("received"))));
    return received.filter(({ method }: { method: string }) => method === "notifications/cancelled");
  };

  test("a call rejects with the reason of its signal, and the server is notified once", async () => {
    const server = await startFixture().ready;
    const controller = new AbortController();
    const reason = new Error("enough");
    const pending = server.call("tools/call", call("hang"), { signal: controller.signal });
    controller.abort(reason);
    expect(await outcome(pending)).toBe(reason);
    controller.abort();
    expect(await cancellations(server)).toHaveLength(1);
  });

  test("a call rejects at its timeout, and the server is notified once", async () => {
    const server = await startFixture().ready;
    const error = await outcome(server.call("tools/call", call("hang"), { signal: AbortSignal.timeout(50) }));
    expect(error?.name).toBe("TimeoutError");
    expect(await cancellations(server)).toHaveLength(1);
  });
});

test("a question that the server withdraws ends with it, although a ping has the same id", async () => {
  const server = await startFixture({}, { launch: { canAsk: true } }).ready;
  const stops: AbortSignal[] = [];
  const ask = (_: unknown, stop: AbortSignal) => {
    stops.push(stop);
    return new Promise<never>(() => {});
  };
  const params = { message: "?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } };
  const messages = [
    { id: "q", method: "elicitation/create", params },
    { id: "q", method: "ping" },
    { method: "notifications/cancelled", params: { requestId: "q" } },
  ];
  const line = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const open = outcome(server.call("tools/call", call("raw", { line }), { ask }));
  await expect.poll(() => stops.map(({ aborted }) => aborted)).toEqual([true]);
  await server.close();
  expect(await open).toMatchObject({ message: expect.stringContaining("is closed") });
});

test("arguments that are not JSON fail only that call", async () => {
  const server = await startFixture().ready;
  expect(await outcome(server.call("tools/call", call("echo", { big: 1n })))).toMatchObject({
    name: "ServerCallError",
  });
  expect(textOf(await server.call("tools/call", call("echo")))).toBe("{}");
});

describe("invalid answers", () => {
  test("an error of the server is a protocol error with its message, without secrets and control characters", async () => {
    const server = await startFixture({}, { launch: { secrets: () => ["hunter2"] } }).ready;
    const error = await outcome(server.call("tools/call", call("no\u001bne hunter2")));
    expect(error).toMatchObject({ name: "ServerCallError" });
    expect(error?.message).toContain("-32602: no tool no\\u{001b}ne [redacted]");
  });

  const noResult = "its answer must have an object as `result` or as `error`";
  const badError = "the error in its answer must have an integer `code` and a string `message`";
  const badResult = "it answered `tools/call` with an invalid result: ";
  const badContent = `${badResult}it has no valid \`content\`, which is not an array`;
  test.each([
    ["neither result nor error", '{"jsonrpc":"2.0","id":ID}', noResult],
    ["an error without code", '{"jsonrpc":"2.0","id":ID,"error":{"message":"x"}}', badError],
    ["content that is text", '{"jsonrpc":"2.0","id":ID,"result":{"content":"x"}}', badContent],
  ])("%s is a protocol error of that call only, with an explanation", async (_, line, words) => {
    const server = await startFixture().ready;
    const other = outcome(server.call("tools/call", call("hang")));
    const error = await outcome(server.call("tools/call", call("raw", { line: `${line}\n` })));
    expect(error).toMatchObject({ name: "ServerCallError", message: expect.stringContaining(words) });
    expect(textOf(await server.call("tools/call", call("echo", {})))).toBe("{}");
    await server.close();
    expect(await other).toMatchObject({ message: expect.stringContaining("is closed") });
  });

  test("answers to nobody, requests that cannot be met and prototypes are ignored", async () => {
    const { ready, reports } = startFixture();
    const server = await ready;
    const lines = [
      '{"jsonrpc":"2.0","id":99999,"result":{}}',
      '{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}',
      '{"jsonrpc":"2.0","method":"notifications/message","__proto__":{"x":1},"params":{"__proto__":{"level":"y"}}}',
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\n',
    ];
    const answer = await server.call("tools/call", call("raw", { line: lines.join("\n") }));
    expect(answer).toEqual({ content: [] });
    expect(reports.noise).toEqual([]);
    expect(({} as Record<string, unknown>).level).toBeUndefined();
  });
});
