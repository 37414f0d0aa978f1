import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createManualClock, type ManualClock } from "../session/support/manual-clock.ts";
import { createRequest, type OpenedEndpoint, openEndpoint, post, resultOf } from "./open-endpoint.ts";
import { formatHead, formatRequest, openConnection, type RawConnection } from "./raw-connection.ts";

/** How long a connection is safe from being dropped. */
const settledMs = 100;

/** Lets everything happen that is ready to; the endpoint is in this process. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 300; turn++) await nextTurn();
}

/** Lets connections become old enough to be dropped, and drops those above the limit. */
async function grow(clock: ManualClock): Promise<void> {
  await settle();
  clock.advance(settledMs);
  await settle();
}

/** Sends a callback on a connection of its own; the result, or the code of what went wrong on the way. */
function callOnce({ endpoint, token }: OpenedEndpoint): Promise<Record<string, unknown> | string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const options = { method: "POST", agent: false, headers } as const;
    const sent = request(`${endpoint.baseUrl}/scripting/callback`, options, async (answer) => {
      let text = "";
      for await (const chunk of answer) text += chunk;
      resolve(JSON.parse(text).result);
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(JSON.stringify(createRequest()));
  });
}

const count = (values: readonly unknown[]) => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
};
const describeResult = (result: Record<string, unknown> | string) =>
  typeof result === "string" ? result : result.success === true ? "success" : result.error_message;

/** Opens connections at once and sends on each, without caring for what becomes of it. */
function flood({ endpoint }: OpenedEndpoint, number: number, text: string): Socket[] {
  const sockets = Array.from({ length: number }, () => {
    const socket = connect(endpoint.port, "127.0.0.1");
    socket.on("error", () => {});
    if (text !== "") socket.write(text);
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

describe("simultaneous callbacks, each on its own connection", () => {
  test("a thousand simultaneous callbacks are called, and the others are answered with an error", async () => {
    const release: (() => void)[] = [];
    const clock = createManualClock();
    const opened = await openEndpoint({
      // On a busy machine, 1,500 connections take their time.
      limits: { bodyTimeoutMs: 60_000 },
      transport: { headersTimeoutMs: 60_000, clock },
      dispatch: () => new Promise((resolve) => release.push(() => resolve({ success: true, text: "done" }))),
    });
    let answered = 0;
    const answers = Array.from({ length: 1500 }, () => callOnce(opened).finally(() => answered++));
    await expect.poll(() => [release.length, answered], { timeout: 30_000 }).toEqual([1000, 500]);
    await grow(clock);
    for (const finish of release) finish();
    expect(count((await Promise.all(answers)).map(describeResult))).toEqual({
      success: 1000,
      "The invocation has 1000 open callbacks, which is the limit. Wait for one to end.": 500,
    });
  });

  test("simultaneous callbacks beyond the limit are answered with an error across several invocations", async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const opened = await openEndpoint({
      transport: { maxConnections: 40, maxRequests: 20 },
      dispatch: () => held.then(() => ({ success: true, text: "done" })),
    });
    const first = Array.from({ length: 20 }, () => callOnce(opened));
    await expect.poll(() => opened.calls.length).toBe(20);
    const refused = await Promise.all(Array.from({ length: 30 }, () => callOnce(opened)));
    const words = "Too many open callbacks in this session. Wait for one to end.";
    expect(count(refused.map(describeResult))).toEqual({ [words]: 30 });
    expect(refused[0]).toMatchObject({ type: "call_tool_result", success: false, text_content: "" });
    finish();
    expect(count((await Promise.all(first)).map(describeResult))).toEqual({ success: 20 });
    expect(describeResult(await callOnce(opened))).toBe("success");
  });
});

describe("connections without a token leave room for callbacks", () => {
  const line = "POST /scripting/callback HTTP/1.1\r\n";
  test.each([
    ["that say nothing", 3000, ""],
    ["that never end their headers", 3000, `${line}Host: 127.0.0.1\r\nX: `],
    ["that never send their body", 3000, `${line}Host: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{`],
    ["of another protocol", 3000, "\x16\x03\x01\x02\x00"],
  ])("callbacks are answered despite many connections %s", async (_, number, text) => {
    const opened = await openEndpoint();
    const before = await openConnection(opened);
    flood(opened, number, text);
    const results = [];
    for (let round = 0; round < 10; round++) {
      results.push(...(await Promise.all(Array.from({ length: 10 }, () => callOnce(opened)))));
      await delay(50);
    }
    expect(count(results.map(describeResult))).toEqual({ success: 100 });
    before.socket.destroy();
  });

  test("callbacks are answered despite many slow connections that reopen when they are closed", async () => {
    const clock = createManualClock();
    const opened = await openEndpoint({
      transport: { maxConnections: 50, maxRequests: 30, headersTimeoutMs: 120_000, clock },
    });
    const sockets = new Set<Socket>();
    let isOver = false;
    let reopened = 0;
    const open = () => {
      const [socket] = flood(opened, 1, line);
      if (socket === undefined) return;
      sockets.add(socket);
      socket.on("close", () => {
        sockets.delete(socket);
        reopened++;
        if (!isOver) open();
      });
    };
    for (let index = 0; index < 150; index++) open();
    for (let round = 1; round <= 30; round++) {
      await grow(clock);
      clock.advance(1);
      for (const socket of sockets) socket.write("x: y\r\n");
      const connection = await openConnection(opened);
      await settle();
      // The others are old enough to be dropped, and the next ones come at once.
      clock.advance(settledMs - 1);
      await settle();
      await connection.send(formatRequest(opened, createRequest()));
      expect((await connection.answers(1)).map(({ status }) => status)).toEqual([200]);
      connection.socket.destroy();
    }
    expect(reopened).toBeGreaterThan(3000);
    isOver = true;
  });
});

describe("connections that are closed at the limit", () => {
  const isOpen = (connection: RawConnection) => !connection.socket.closed;

  test("connections without a token are closed first, then idle ones, each oldest first, and never those with a running callback", async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const clock = createManualClock();
    const opened = await openEndpoint({
      transport: { maxConnections: 6, maxRequests: 5, clock },
      dispatch: async ({ toolName }) => {
        if (toolName === "hold") await held;
        return { success: true, text: toolName };
      },
    });
    const open = async (text = "") => {
      const connection = await openConnection(opened);
      if (text !== "") await connection.send(text);
      await settle();
      // So that no other is as old.
      clock.advance(1);
      return connection;
    };
    const holding = await open(formatRequest(opened, createRequest({}, { tool_name: "hold" })));
    const half = await open(formatHead(opened, { "Content-Length": "100" }));
    const idle = await open(formatRequest(opened, createRequest()));
    await idle.answers(1);
    const silent = [await open(), await open(), await open()];
    await grow(clock);
    expect([holding, half, idle, ...silent].filter(isOpen)).toHaveLength(6);

    const more: RawConnection[] = [];
    const states = () => [...silent, idle, half, holding].map(isOpen);
    for (const closed of [1, 2, 3]) {
      more.push(await open());
      await grow(clock);
      await expect.poll(states).toEqual([1, 2, 3, 4, 5, 6].map((place) => place > closed));
      // Proves that nothing else is closed.
      await grow(clock);
    }
    expect(states()).toEqual([false, false, false, true, true, true]);
    expect(more.map(isOpen)).toEqual([true, true, true]);
    // With tokens, the newcomers are worth as much as those that are there.
    for (const connection of more) await connection.send(formatRequest(opened, createRequest()));
    for (const connection of more) await connection.answers(1);
    await grow(clock);
    const newest = await open(formatRequest(opened, createRequest({}, { tool_name: "hold" })));
    await grow(clock);
    await expect.poll(() => isOpen(idle)).toBe(false);
    await grow(clock);
    expect([half, holding, newest, ...more].map(isOpen)).toEqual([true, true, true, true, true, true]);
    finish();
    expect((await holding.answers(1)).map(({ status }) => status)).toEqual([200]);
    expect((await newest.answers(1)).map(({ status }) => status)).toEqual([200]);
  });

  test("connections that have just opened are not closed", async () => {
    const clock = createManualClock();
    const opened = await openEndpoint({ transport: { maxConnections: 4, maxRequests: 3, clock } });
    const results = await Promise.all(Array.from({ length: 12 }, () => callOnce(opened)));
    expect(results.every((result) => typeof result !== "string")).toBe(true);
    expect(await resultOf(await post(opened))).toMatchObject({ success: true });
  });
});
