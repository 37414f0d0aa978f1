import { expect, test } from "vitest";
import { createManualClock } from "../../session/support/manual-clock.ts";
import { sendJson, serveHttp, serveLegacy, serveModern } from "../../support/remote-servers.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { advanceToNext, startRemote } from "./start-remote.ts";

const count = (methods: string[], wanted: string) => methods.filter((method) => method === wanted).length;

async function openModern() {
  const remote = await serveModern({ legacy: "reject" });
  const clock = createManualClock();
  const starting = startRemote(remote.url);
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

test("a subscription that a modern server refuses is not repeated", async () => {
  const capabilities = { tools: { listChanged: true } };
  const remote = await serveHttp(({ http, message }, _request, response) => {
    if (http !== "POST") return response.writeHead(405).end();
    const { id, method } = message;
    if (method === "subscriptions/listen") {
      const error = { code: -32601, message: "Method not found" };
      return sendJson(response, 404, { jsonrpc: "2.0", id, error });
    }
    const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities, tools: [] };
    return sendJson(response, 200, { jsonrpc: "2.0", id, result });
  });
  const clock = createManualClock();
  await startRemote(remote.url, { protocol: "modern" }).ready;
  await waitUntil(() => count(remote.methods(), "subscriptions/listen") === 1);
  await waitUntil(() => clock.delays.length === 0);
  expect(count(remote.methods(), "subscriptions/listen")).toBe(1);
});

async function openLegacy() {
  const remote = await serveLegacy();
  const clock = createManualClock();
  const starting = startRemote(remote.url);
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
