import { describe, expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../../src/mcp/http/serve-http.ts";
import { beginSession, calling, messagesOf, post } from "../http/served.ts";
import { createServed, erasOf, headersFor, type modernCall } from "./modern-served.ts";

async function serve(options: { stateless?: boolean } = {}) {
  const { session, requests } = erasOf(createServed());
  const running = await serveHttp(session, {
    label: "acme/pack/server",
    modern: requests,
    graceMs: 200,
    ...options,
  });
  onTestFinished(() => running.close());
  const send = (message: ReturnType<typeof modernCall>) => post(running, message, headersFor(message));
  return { ...running, send };
}

describe("log messages", () => {
  const logged = { method: "notifications/message", params: { level: "info", data: { n: 1 } } };
  const hasLogged = (messages: readonly Record<string, unknown>[]) =>
    messages.filter(({ method }) => method === "notifications/message");

  test.each([true, false])(
    "log messages of a legacy call are in the stream of its answer, with stateless: %s",
    async (stateless) => {
      const served = await serve({ stateless });
      const headers = stateless ? {} : await beginSession(served);
      const [own, other] = await Promise.all([
        post(served, calling("logs"), headers).then(messagesOf),
        post(served, calling("echo", 3), headers).then(messagesOf),
      ]);
      expect(hasLogged(own)).toMatchObject([{ params: { level: "debug", data: "fine" } }, logged]);
      expect(own.at(-1)).toMatchObject({ id: 2, result: { content: [] } });
      expect(hasLogged(other)).toEqual([]);
    },
  );

  test("a legacy session gets log messages from the level that it sets", async () => {
    const served = await serve();
    const session = await beginSession(served);
    const setting = { jsonrpc: "2.0", id: 9, method: "logging/setLevel", params: { level: "info" } };
    expect(await messagesOf(await post(served, setting, session))).toMatchObject([{ id: 9, result: {} }]);
    expect(hasLogged(await messagesOf(await post(served, calling("logs"), session)))).toMatchObject([logged]);
  });
});
