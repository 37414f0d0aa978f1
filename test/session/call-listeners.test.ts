import type { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import type { CallLog, SessionOptions, ToolProgress } from "../../src/session.ts";
import { makeTree } from "../support/packs.ts";
import { serveModern } from "../support/remote-servers.ts";
import { waitUntil } from "../support/wait-until.ts";
import { makeProject, openForTest, toolPack } from "./support/session.ts";

const module = `export const tell = async ({ of }, { log, progress }) => {
  for (const step of [1, 2]) {
    log("info", { of, step, key: "hidden-value" });
    await progress(step, 2, "hidden-value");
  }
  return "told";
};
export const nest = async (args, { log, progress, callTool }) => {
  log("info", "outer");
  progress(1);
  return callTool("tell", { of: "inner" });
};`;

const sensitive = { sensitiveMemory: ["token"] };
const open = (isolation = "in-process", options: SessionOptions = {}) =>
  openForTest(makeProject({ teller: toolPack({ tell: {}, nest: {} }, module) }), {
    memory: { token: "hidden-value" },
    config: { isolation, ...sensitive },
    ...options,
  });

function hear() {
  const logs: CallLog[] = [];
  const steps: ToolProgress[] = [];
  const options = {
    onLog: (entry: CallLog) => void logs.push(entry),
    onProgress: (step: ToolProgress) => void steps.push(step),
  };
  return { logs, steps, options };
}

test.each(["in-process", "process"])(
  "a call hears its own log and progress, and the log of nested calls, in order, redacted: %s",
  async (isolation) => {
    const session = await open(isolation);
    const [one, two] = [hear(), hear()];
    await Promise.all([
      session.callTool("tell", { of: 1 }, one.options),
      session.callTool("tell", { of: 2 }, two.options),
    ]);
    for (const [of, { logs, steps }] of [
      [1, one],
      [2, two],
    ] as const) {
      expect(logs).toEqual([1, 2].map((step) => ({ level: "info", data: { of, step, key: "[redacted]" } })));
      expect(steps).toEqual([1, 2].map((progress) => ({ progress, total: 2, message: "[redacted]" })));
    }
    // The log of the calls that its tool makes, but not their progress.
    const { logs, steps, options } = hear();
    expect((await session.callTool("nest", {}, options)).variant).toBe("Success");
    expect(logs.map(({ data }) => data)).toMatchObject(["outer", { of: "inner" }, { of: "inner" }]);
    expect(steps).toEqual([{ progress: 1 }]);
  },
);

test("a listener that throws or rejects is a problem, once, and the call goes on", async () => {
  const onProgress = () => {
    throw new Error("no terminal");
  };
  // The session's own listener has no call to report it for.
  const session = await open(undefined, { onLog: onProgress });
  const onLog = async () => {
    throw new Error("no disk");
  };
  for (let call = 0; call < 3; call++) {
    expect((await session.callTool("tell", { of: 1 }, { onProgress, onLog })).message).toBe("told");
  }
  await waitUntil(() => session.problems.length >= 2);
  const failed = (option: string, reason: string) =>
    expect.objectContaining({ code: "HostListenerFailed", args: { option, tool: "tell", reason } });
  // In any order: a child's messages may come before a rejection is seen.
  const all = [failed("onProgress", "no terminal"), failed("onLog", "no disk")];
  expect(session.problems).toEqual(expect.arrayContaining(all));
  expect(session.problems).toHaveLength(2);
});

test("calls of a modern remote server ask for their log if they have `onLog`, and hear only their own", async () => {
  const remote = await serveModern({
    legacy: "reject",
    add(given) {
      const modern = given as unknown as McpServer;
      modern.server.registerCapabilities({ logging: {} });
      const inputSchema = z.object({ of: z.string() });
      modern.registerTool("remote_tell", { inputSchema }, async ({ of }, ctx) => {
        await ctx.mcpReq.log("debug", { of }, "teller");
        return { content: [{ type: "text", text: of }] };
      });
    },
  });
  const session = await openForTest(makeTree({ "package.json": { name: "host" } }), {
    config: { mcpServers: { docs: { url: remote.url, protocol: "modern" } } },
  });
  const [one, two] = [hear(), hear()];
  await Promise.all([
    session.callTool("remote_tell", { of: "a" }, { onLog: one.options.onLog }),
    session.callTool("remote_tell", { of: "b" }, { onLog: two.options.onLog }),
  ]);
  expect(one.logs).toEqual([{ level: "debug", logger: "teller", data: { of: "a" } }]);
  expect(two.logs).toEqual([{ level: "debug", logger: "teller", data: { of: "b" } }]);
  await session.callTool("remote_tell", { of: "c" });
  const levels = remote.received
    .filter(({ message }) => message?.method === "tools/call")
    .map(({ message }) => message.params._meta["io.modelcontextprotocol/logLevel"]);
  expect(levels).toEqual(["debug", "debug", undefined]);
});
