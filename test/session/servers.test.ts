import { describe, expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { jsonOf, makeProject, openForTest, probe, probeServer } from "./support/session.ts";

const sdkServer = (version: 1 | 2, ...args: string[]) => ({
  command: process.execPath,
  args: [inRepository(`bench/support/${version === 1 ? "" : "modern-"}sdk-server.mjs`), ...args],
});

const listing = (...tools: object[]) =>
  JSON.stringify(tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })));

/** A server without the SDK that speaks only the modern revision. Its tool returns the result that it is given. */
const modernServer = `
  import { createInterface } from "node:readline";
  const answers = {
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
    "tools/list": () => ({ tools: ["result", "params"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
    "tools/call": ({ name, ...params }) =>
      name === "result" ? params.arguments.result : { content: [{ type: "text", text: JSON.stringify(params) }] },
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = answers[method]?.(params);
    const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"] } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answer ? { result: { resultType: "complete", ...answer } } : { error }) }));
  });
`;
const modern = { name: "modern", command: process.execPath, args: ["modern.mjs"] };
const makeModern = () => makeProject({}, { "modern.mjs": modernServer });

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
    const running = (era: string, protocolVersion: string, name: string) => ({
      state: "running",
      era,
      protocolVersion,
      serverInfo: { name, version: "1.0.0" },
    });
    expect(session.servers).toEqual([
      {
        label: "first",
        source: { type: "config", server: "first" },
        ...running("legacy", "2025-11-25", "early"),
        tools: ["early"],
      },
      {
        label: "both",
        source: { type: "config", server: "both" },
        ...running("legacy", "2025-11-25", "middle"),
        tools: [],
      },
      {
        label: "acme/desk/reject",
        source: expect.objectContaining({ type: "pack", pack: "@acme/desk", server: "reject" }),
        ...running("modern", "2026-07-28", "late"),
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

describe("a server of the config that speaks only the modern revision", () => {
  test.each(["auto", "modern"])(
    "is called with the protocol `%s` and the session's metadata",
    async (protocol) => {
      const session = await openForTest(makeModern(), {
        config: { trailblazeSubprocessToolsets: [{ ...modern, protocol }] },
      });
      expect(session.servers).toMatchObject([
        { era: "modern", serverInfo: null, tools: ["result", "params"] },
      ]);
      const { arguments: args, _meta } = jsonOf(await session.callTool("params", { a: 1 }));
      expect(args).toMatchObject({ a: 1, _trailblazeContext: {} });
      expect(_meta).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "trailblaze" },
        "io.modelcontextprotocol/clientCapabilities": {},
        trailblaze: { sessionId: session.id },
      });
    },
  );
});

test("a tool that can be called only as a task is excluded, other tools are not", async () => {
  const tasks = ["required", "optional", "forbidden", 5].map((taskSupport) => ({
    name: `task_${taskSupport}`,
    execution: { taskSupport },
  }));
  const tools = listing(...tasks, { name: "odd", execution: "required" });
  const session = await openForTest(makeProject({}), {
    config: { trailblazeSubprocessToolsets: [probe("probe", { PROBE_TOOLS: tools })] },
  });
  expect(session.tools.map(({ name }) => name)).toEqual(["task_optional", "task_forbidden", "task_5", "odd"]);
  expect(session.skipped).toMatchObject([
    { name: "task_required", reason: "TaskRequired", source: { server: "probe" } },
  ]);
});
