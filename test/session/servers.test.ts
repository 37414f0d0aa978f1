import { describe, expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { makeProject, namesOf, openForTest, probe, probeServer, withServers } from "./support/session.ts";

const sdkServer = (version: 1 | 2, ...args: string[]) => ({
  command: process.execPath,
  args: [inRepository(`bench/support/${version === 1 ? "" : "modern-"}sdk-server.mjs`), ...args],
});

const packOfServers = (servers: Readonly<Record<string, object>>, files = {}) => ({
  "package.json": { trailblaze: { servers: Object.keys(servers) } },
  ...Object.fromEntries(
    Object.entries(servers).map(([name, definition]) => [`trailblaze/servers/${name}.json`, definition]),
  ),
  ...files,
});

describe("session.servers", () => {
  test("lists servers of both eras with their revision and their tools", async () => {
    const cwd = makeProject({
      "@acme/desk": packOfServers({ reject: { ...sdkServer(2, "late", "reject"), protocol: "modern" } }),
    });
    const session = await openForTest(cwd, {
      config: {
        trailblazeSubprocessToolsets: [
          { name: "first", ...sdkServer(1, "early") },
          { name: "both", ...sdkServer(2, "middle"), tools: { deny: ["middle"] } },
        ],
      },
    });
    const serverInfo = { name: "early", version: "1.0.0" };
    const legacy = { state: "running", era: "legacy", protocolVersion: "2025-11-25" };
    const source = { type: "config", server: "first" };
    expect(session.servers[0]).toEqual({ label: "first", source, ...legacy, serverInfo, tools: ["early"] });
    expect(session.servers.slice(1)).toMatchObject([
      { label: "both", ...legacy, serverInfo: { name: "middle" }, tools: [] },
      {
        label: "acme/desk/reject",
        source: { type: "pack", pack: "@acme/desk", server: "reject" },
        era: "modern",
        protocolVersion: "2026-07-28",
        tools: ["late"],
      },
    ]);
    for (const name of ["early", "late"]) {
      expect(await session.callTool(name, { text: name })).toMatchObject({ message: name });
    }
  });

  test("says why servers of packs are excluded or have failed", async () => {
    const cwd = makeProject({
      desk: packOfServers(
        {
          broken: { script: "./gone.js" },
          denied: { command: "node" },
          lost: { script: "./lost.js", protocol: "modern" },
          fine: { command: process.execPath, args: [probeServer] },
        },
        { "lost.js": "process.exit(4);" },
      ),
    });
    const { servers } = await openForTest(cwd, { config: { packs: { deny: ["desk/denied"] } } });
    const unknown = { era: null, protocolVersion: null, serverInfo: null, tools: [] };
    expect(servers).toMatchObject([
      { label: "desk/broken", state: "excluded", reason: "Invalid", ...unknown },
      { label: "desk/lost", state: "failed", reason: "ServerFailed", ...unknown },
      { label: "desk/fine", state: "running", era: "legacy" },
      { label: "desk/denied", state: "excluded", reason: "Denied", ...unknown },
    ]);
    expect(servers[2]).not.toHaveProperty("reason");
  });

  test("a server is idle until a call needs it, and has failed after it exits", async () => {
    const config = {
      crash: "isolate" as const,
      trailblazeSubprocessToolsets: [probe("one"), probe("two"), { ...probe("off"), enabled: false }],
    };
    const session = await openForTest(makeProject({}), { config, calls: ["one/one_crash"] });
    const states = () => session.servers.map(({ label, state }) => `${label} ${state}`);
    expect(states()).toEqual(["one running", "two idle"]);
    await session.callTool("one_crash");
    expect(states()).toEqual(["one failed", "two idle"]);
    expect(session.servers).toMatchObject([{ era: "legacy", reason: "ServerFailed" }, { era: null }]);
  });
});

test("a tool that can be called only as a task is excluded, other tools are not", async () => {
  const tools = ["required", "optional", "forbidden", 5].map((taskSupport) => ({
    name: `task_${taskSupport}`,
    inputSchema: { type: "object" },
    execution: { taskSupport },
  }));
  const session = await openForTest(makeProject({}), {
    config: withServers(probe("probe", { PROBE_TOOLS: JSON.stringify(tools) })),
  });
  expect(namesOf(session.tools)).toEqual(["task_optional", "task_forbidden", "task_5"]);
  expect(session.skipped).toMatchObject([{ name: "task_required", reason: "TaskRequired" }]);
});
