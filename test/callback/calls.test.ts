import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import type { CallbackCall, CallbackOutcome } from "../../src/callback/callback-endpoint.ts";
import { openConnection, statusesIn } from "../mcp/http/raw-connection.ts";
import {
  createRequest,
  failedWith,
  formatRequest,
  invocationId,
  openEndpoint,
  post,
  resultOf,
} from "./open-endpoint.ts";

/** A dispatch that never comes to an end. */
const hang = () => new Promise<never>(() => {});

const reasonOf = (call: CallbackCall | undefined) => (call?.signal.reason as DOMException | undefined)?.name;

describe("a callback's call", () => {
  test("a call is dispatched with the requested tool and arguments", async () => {
    const opened = await openEndpoint();
    const args = { summary: "é😀", list: [1, null, { a: true }] };
    const action = { tool_name: "jira_createIssue", arguments_json: JSON.stringify(args) };
    await post(opened, createRequest({}, action));
    expect(opened.calls).toEqual([
      {
        toolName: "jira_createIssue",
        arguments: args,
        signal: expect.any(AbortSignal),
        limit: expect.objectContaining({ isOver: false }),
      },
    ]);
  });

  test.each<[CallbackOutcome, object]>([
    [
      { variant: "Success", message: "é\u2028", structuredContent: { createdAt: [1] } },
      { success: true, text_content: "é\u2028", error_message: "", structured_content: { createdAt: [1] } },
    ],
    [{ variant: "FatalError", message: "It failed." }, failedWith("It failed.")],
  ])("the outcome %j is answered with its result", async (outcome, result) => {
    const response = await post(await openEndpoint({ dispatch: async () => outcome }));
    expect(response.status).toBe(200);
    expect(await resultOf(response)).toEqual({ type: "call_tool_result", ...result });
  });

  test.each<[string, () => Promise<CallbackOutcome>]>([
    ["rejects", () => Promise.reject(new Error("secret at /home/me/x.ts:1"))],
    [
      "yields what is no data",
      async () => ({ variant: "Success", message: "", structuredContent: { secret: 1n } }),
    ],
  ])("an answer does not reveal why the dispatch %s", async (_what, dispatch) => {
    const response = await post(await openEndpoint({ dispatch }));
    expect(response.status).toBe(200);
    expect(await resultOf(response)).toEqual(failedWith("The host failed to call the tool."));
  });

  test("a call that exceeds the timeout is canceled and fails, and what it then throws is discarded", async () => {
    const opened = await openEndpoint({
      limits: { timeoutMs: 50 },
      dispatch: ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("late")))),
    });
    expect(await resultOf(await post(opened))).toEqual(failedWith(expect.stringContaining("50 ms")));
    expect(reasonOf(opened.calls[0])).toBe("TimeoutError");
  });
});

describe("a running call that is aborted", () => {
  test("a call is aborted if its invocation ends, and later calls are rejected", async () => {
    const opened = await openEndpoint({ dispatch: hang });
    const asked = [post(opened), post(opened)];
    await expect.poll(() => opened.calls.length).toBe(2);
    opened.end();
    for (const response of await Promise.all(asked)) {
      expect(await resultOf(response)).toMatchObject({ success: false });
    }
    expect(opened.calls.map(reasonOf)).toEqual(["AbortError", "AbortError"]);
    expect((await resultOf(await post(opened))).type).toBe("error");
  });

  test("a call is aborted if its client disconnects, and other calls continue", async () => {
    const opened = await openEndpoint({ dispatch: hang });
    const connection = await openConnection(opened.endpoint.port);
    await connection.send(formatRequest(opened, createRequest()).repeat(3));
    await expect.poll(() => opened.calls.length).toBe(3);
    const other = await openConnection(opened.endpoint.port);
    await other.send(formatRequest(opened, createRequest()));
    await expect.poll(() => opened.calls.length).toBe(4);
    connection.socket.destroy();
    await expect.poll(() => opened.calls.map(reasonOf)).toEqual([...Array(3).fill("AbortError"), undefined]);
  });

  test("a call is aborted and answered if the endpoint closes, and all connections end", async () => {
    const opened = await openEndpoint({ dispatch: hang });
    const { endpoint } = opened;
    const asked = await openConnection(opened.endpoint.port);
    await asked.send(formatRequest(opened, createRequest()));
    await expect.poll(() => opened.calls.length).toBe(1);
    const idle = await openConnection(opened.endpoint.port);
    const sending = await openConnection(opened.endpoint.port);
    await sending.send(formatRequest(opened, createRequest()).slice(0, -5));
    await Promise.all([endpoint.close(), endpoint.close()]);
    await endpoint.close();
    expect(statusesIn(await asked.closed)).toEqual([200]);
    expect(statusesIn(await sending.closed)).toEqual([]);
    await idle.closed;
    expect(reasonOf(opened.calls[0])).toBe("AbortError");
    await expect(post(opened)).rejects.toThrow();
  });
});

describe("tokens", () => {
  test("the token of one server is not valid for another", async () => {
    const opened = await openEndpoint();
    const { endpoint } = opened;
    const token = endpoint.issueToken("other");
    opened.begin("other's", "other");
    const typeFor = async (as: string, id: string) =>
      (await resultOf(await post({ endpoint, token: as }, createRequest({ invocation_id: id })))).type;
    expect(await typeFor(opened.token, invocationId)).toBe("call_tool_result");
    expect(await typeFor(token, "other's")).toBe("call_tool_result");
    expect(await typeFor(opened.token, "other's")).toBe("error");
    expect(await typeFor(token, invocationId)).toBe("error");
  });

  test("a revoked token is rejected, and other tokens stay valid", async () => {
    const opened = await openEndpoint();
    const { endpoint } = opened;
    const second = endpoint.issueToken("api");
    expect((await post(opened)).status).toBe(200);
    endpoint.revokeToken(opened.token);
    endpoint.revokeToken(opened.token);
    endpoint.revokeToken("never issued");
    const connection = await openConnection(opened.endpoint.port);
    // Before its body has come.
    await connection.send(formatRequest(opened, createRequest()).slice(0, -5));
    expect((await connection.answers(1)).map(({ status }) => status)).toEqual([401]);
    expect((await post({ endpoint, token: second })).status).toBe(200);
  });

  test("tokens appear in no answer and no output", async () => {
    const written: string[] = [];
    const keep = (chunk: unknown) => {
      written.push(String(chunk));
      return true;
    };
    const spies = [
      vi.spyOn(process.stdout, "write").mockImplementation(keep as never),
      vi.spyOn(process.stderr, "write").mockImplementation(keep as never),
    ];
    const warned: unknown[] = [];
    const note = (...all: unknown[]) => warned.push(...all);
    for (const event of ["warning", "uncaughtExceptionMonitor"]) process.on(event, note);
    const opened = await openEndpoint({
      limits: { timeoutMs: 30 },
      dispatch: ({ toolName }) => (toolName === "hang" ? hang() : Promise.reject(new Error(toolName))),
    });
    const { endpoint, token } = opened;
    const requests = [
      formatRequest(opened, createRequest()),
      formatRequest(opened, createRequest({}, { tool_name: "hang" })),
      formatRequest(opened, createRequest({ version: 3 })),
      formatRequest(opened, "{"),
      formatRequest(opened, "{}", { Authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
      formatRequest({ endpoint, token: `${token}x` }, "{}"),
      formatRequest(opened, "{}", { Host: token }),
    ];
    for (const request of requests) {
      const connection = await openConnection(opened.endpoint.port);
      await connection.send(request);
      await connection.answers(1);
      written.push(connection.received());
      expect(connection.received()).toMatch(/^HTTP\/1\.1 \d/);
    }
    for (const event of ["warning", "uncaughtExceptionMonitor"]) process.off(event, note);
    for (const spy of spies) spy.mockRestore();
    const logged = inspect([endpoint, opened.calls, warned], { depth: 20, showHidden: true });
    const all = [...written, logged, JSON.stringify(endpoint)].join("\n");
    expect(all).not.toContain(token);
  });
});
