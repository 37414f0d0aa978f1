import { expect, test } from "vitest";
import { answerStart, type Received, sendJson, serveHttp } from "../support/remote-servers.ts";
import { waitUntil } from "../support/wait-until.ts";
import { openWithClock } from "./support/followed.ts";
import { makeProject, probe } from "./support/session.ts";

/** A server that does not know its session after `drop`, until it gets `initialize` again, or for good. */
async function serveDroppable() {
  let isDropping = false;
  let isGone = false;
  let refused = 0;
  const server = await serveHttp((received: Received, _request, response) => {
    const { http, message } = received;
    response.setHeader("mcp-session-id", "one");
    if (message?.method === "initialize") isDropping = false;
    if (isGone || isDropping) {
      if (message?.method === "initialize") refused += 1;
      return response.writeHead(message?.method === "initialize" ? 503 : 404).end();
    }
    if (http === "GET" || http === "HEAD") return response.writeHead(405).end();
    if (message?.id === undefined) return response.writeHead(202).end();
    const result = { content: [{ type: "text", text: "called" }] };
    return sendJson(response, 200, answerStart(received) ?? { jsonrpc: "2.0", id: message.id, result });
  });
  return {
    ...server,
    drop: () => {
      isDropping = true;
    },
    dropForGood: () => {
      isGone = true;
    },
    restore: () => {
      isGone = false;
    },
    /** How often it did not answer `initialize`. */
    refused: () => refused,
  };
}

async function open(crash: "isolate" | "relaunch" | "fail", { served = false } = {}) {
  const remote = await serveDroppable();
  const config = {
    logDir: "logs",
    crash,
    trailblazeSubprocessToolsets: [probe("local")],
    mcpServers: { docs: { url: remote.url } },
  };
  const { opening, clock } = openWithClock(makeProject({}), { config }, served);
  const session = await opening;
  /** A call that finds the server lost. */
  const lose = async () => {
    const count = session.problems.length;
    const call = session.callTool("echo").catch((error: unknown) => error);
    await waitUntil(() => session.problems.length > count);
    return call;
  };
  return { remote, session, clock, lose };
}

test("with `crash: relaunch`, a lost remote server is initialized once more, and the session ends if it is lost again", async () => {
  const { remote, session, lose } = await open("relaunch");
  remote.drop();
  await lose();
  expect(session.problems).toMatchObject([
    { code: "ServerDied", severity: "warning", args: { label: "docs", isRelaunched: true } },
  ]);
  expect(await session.callTool("echo")).toMatchObject({ message: "called" });
  expect(remote.methods().filter((method) => method === "initialize")).toHaveLength(2);
  remote.drop();
  await lose();
  expect(session.problems[1]).toMatchObject({ code: "ServerDied", severity: "error" });
  await expect(session.callTool("local_tell")).rejects.toMatchObject({ code: "SessionClosed" });
});

test("a served session reaches a remote server again that was away for minutes, however long", async () => {
  const { remote, session, clock, lose } = await open("fail", { served: true });
  remote.dropForGood();
  await lose();
  for (let attempt = 1; attempt <= 6; attempt++) {
    await waitUntil(() => remote.refused() === attempt && clock.delays.includes(25_000));
    expect(await session.callTool("echo")).toMatchObject({
      variant: "ExceptionThrown",
      message: expect.stringContaining("docs"),
    });
    if (attempt === 6) remote.restore();
    clock.advance(25_000);
  }
  await waitUntil(() => remote.methods().at(-1) === "tools/list");
  expect(await session.callTool("echo")).toMatchObject({ message: "called" });
  expect(session.problems).toMatchObject([{ code: "ServerDied", severity: "warning" }]);
});
