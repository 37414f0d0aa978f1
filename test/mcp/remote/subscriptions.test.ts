import { describe, expect, test } from "vitest";
import { createManualClock } from "../../session/support/manual-clock.ts";
import {
  type Answer,
  answerStart,
  sendJson,
  serveHttp,
  serveLegacy,
  serveModern,
} from "../../support/remote-servers.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { advanceToNext, call, limit, startRemote } from "./start-remote.ts";

const count = (methods: string[], wanted: string) => methods.filter((method) => method === wanted).length;

/** A modern server whose list can change, and that answers subscriptions like this. */
const serveListening = (answer: Answer) =>
  serveHttp((received, request, response) => {
    if (received.http !== "POST") return response.writeHead(405).end();
    const { id, method } = received.message;
    if (method === "subscriptions/listen") return answer(received, request, response);
    const result =
      method === "server/discover"
        ? { supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } } }
        : { tools: [], content: [] };
    return sendJson(response, 200, { jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
  });

async function openModern() {
  const remote = await serveModern({ legacy: "reject" });
  const clock = createManualClock();
  const starting = startRemote(remote.url, { clock });
  const server = await starting.ready;
  const subscriptions = () => count(remote.methods(), "subscriptions/listen");
  await waitUntil(() => subscriptions() === 1);
  /** Loses the connections, and lets time pass until there is another subscription. */
  const resubscribe = async () => {
    const before = subscriptions();
    remote.drop();
    await waitUntil(() => {
      advanceToNext(clock);
      return subscriptions() > before;
    });
  };
  return { remote, clock, starting, server, resubscribe };
}

describe("a lost subscription to a modern server", () => {
  test("a lost subscription is opened again, and later changes of the list are told", async () => {
    const { remote, starting, resubscribe } = await openModern();
    await resubscribe();
    await resubscribe();
    expect(starting.listChanges()).toBe(0);
    await waitUntil(() => {
      remote.changeTools();
      return starting.listChanges() > 0;
    });
  });

  test("a subscription that the server refuses is not repeated", async () => {
    const clock = createManualClock();
    const error = { code: -32601, message: "Method not found" };
    const remote = await serveListening(({ message: { id } }, _request, response) =>
      sendJson(response, 404, { jsonrpc: "2.0", id, error }),
    );
    const server = await startRemote(remote.url, { clock, protocol: "modern" }).ready;
    await waitUntil(() => count(remote.methods(), "subscriptions/listen") === 1);
    await server.callTool(call("echo"), limit);
    clock.advance(60_000);
    await server.callTool(call("echo"), limit);
    expect(count(remote.methods(), "subscriptions/listen")).toBe(1);
  });
});

describe("a lost stream of notifications of a legacy server", () => {
  async function openLegacy() {
    const remote = await serveLegacy();
    const clock = createManualClock();
    const starting = startRemote(remote.url, { clock });
    const server = await starting.ready;
    const streams = () => remote.received.filter(({ http }) => http === "GET").length;
    await waitUntil(() => streams() === 1);
    /** Loses the connections, and lets time pass until the condition holds. */
    const loseUntil = async (condition: () => boolean) => {
      remote.drop();
      await waitUntil(() => {
        advanceToNext(clock);
        return condition();
      });
    };
    return { remote, starting, server, streams, loseUntil };
  }

  test("a server that has lost the session of its stream has exited", async () => {
    const { remote, server, loseUntil } = await openLegacy();
    remote.forget();
    let isLost = false;
    void server.exit.then(() => {
      isLost = true;
    });
    await loseUntil(() => isLost);
    expect(count(remote.methods(), "initialize")).toBe(1);
  });

  test("a server that answers 404 for its stream, and has none, keeps its session", async () => {
    const remote = await serveHttp((received, _request, response) => {
      response.setHeader("mcp-session-id", "one");
      if (received.http === "GET") return response.writeHead(404).end();
      if (received.http !== "POST") return response.writeHead(405).end();
      if (received.message.id === undefined) return response.writeHead(202).end();
      const result = { content: [] };
      const answer = answerStart(received) ?? { jsonrpc: "2.0", id: received.message.id, result };
      return sendJson(response, 200, answer);
    });
    const clock = createManualClock();
    const server = await startRemote(remote.url, { clock }).ready;
    await waitUntil(() => remote.received.some(({ http }) => http === "GET"));
    await server.callTool(call("echo"), limit);
    // Neither an attempt nor anything else is left.
    await waitUntil(() => clock.delays.length === 0);
    expect(count(remote.methods(), "initialize")).toBe(1);
  });
});
