import { describe, expect, test } from "vitest";
import type { CommandSessionOptions } from "../../src/session/session-options.ts";
import { openSession } from "../../src/session.ts";
import { jsonOf, makeProject, openForTest, probe, probeServer, toolPack } from "./support/session.ts";

const listing = (...names: string[]) =>
  JSON.stringify(names.map((name) => ({ name, inputSchema: { type: "object" } })));
const server = (name: string, tools: readonly string[], changes: object = {}) => ({
  ...probe(name, { PROBE_TOOLS: listing(...tools) }),
  ...changes,
});
const servers = [
  server("my files", ["read", "a/b", "x.y", "secret"], { prefix: "f", tools: { deny: ["secret"] } }),
  server("other", ["read", "other_callback"]),
  { ...probe("off"), enabled: false },
];
const config = { trailblazeSubprocessToolsets: servers };

/** A pack with a tool that calls another, and with a server. */
const caller = () =>
  toolPack(
    { relay: {} },
    "export const relay = ({ name, args }, { callTool }) => callTool(name, args ?? {});",
    {
      "package.json": { trailblaze: { tools: ["relay"], servers: ["api"] } },
      "trailblaze/servers/api.json": {
        command: process.execPath,
        args: [probeServer],
        env: { PROBE_PREFIX: "api" },
      },
    },
  );

describe("the reference LABEL/TOOL", () => {
  test("LABEL/TOOL names a tool of a server of the config by the server's own name for it", async () => {
    const session = await openForTest(makeProject({}), {
      config: { ...config, toolsets: { mine: ["other/read"] } },
    });
    for (const name of ["my files/read", "my files/a/b", "my files/x.y", "other/read", "f_read", "read"]) {
      expect(await session.callTool(name), name).toMatchObject({ variant: "Success" });
    }
    expect(session.findTool("my files/x.y").name).toBe("f_x_y");
    expect(session.toolsets).toEqual([{ name: "mine", tools: ["read"] }]);
  });

  test.each([
    ["other/raed", "ToolNotFound", { name: "other/raed", server: "other", nearest: ["other/read"] }],
    ["my files/secret", "ToolNotFound", { reason: expect.stringContaining("tools") }],
    ["othr/read", "ServerNotFound", { name: "othr", nearest: ["other"], isLabel: true }],
    ["no such/read", "ServerNotFound", { name: "no such", isLabel: true }],
    ["off/read", "ServerNotFound", { name: "off", isDisabled: true }],
    ["@acme/jira/read", "PackNotInstalled", { name: "@acme/jira" }],
    ["acme/jira/read", "PackNotInstalled", { name: "@acme/jira" }],
  ])("the reference %s fails with %s", async (name, code, args) => {
    const session = await openForTest(makeProject({}), { config });
    expect(() => session.findTool(name)).toThrow(
      expect.objectContaining({
        code,
        problem: expect.objectContaining({ args: expect.objectContaining(args) }),
      }),
    );
  });

  test("LABEL/TOOL is ambiguous if it is also the name of an item, except in the pack itself", async () => {
    const cwd = makeProject({
      box: toolPack({ open: {} }, "export const open = () => 'pack';"),
      caller: caller(),
    });
    const session = await openForTest(cwd, {
      config: {
        trailblazeSubprocessToolsets: [server("box", ["open", "close"], { prefix: "box" })],
      },
    });
    expect(() => session.findTool("box/open")).toThrow(
      expect.objectContaining({
        code: "AmbiguousName",
        problem: expect.objectContaining({ args: { name: "box/open", kinds: ["tool"], server: "box" } }),
      }),
    );
    expect(session.findTool("box/close").name).toBe("box_close");
    expect(await session.callTool("relay", { name: "box/open" })).toMatchObject({ message: "pack" });
  });
});

describe("sessions for known calls", () => {
  const open = async (calls: readonly string[], changes: object = {}) => {
    const started: string[] = [];
    const options: CommandSessionOptions = {
      cwd: makeProject({ caller: caller() }),
      config: { ...config, ...changes, logDir: "logs" },
      calls,
      onCommand: ({ label }) => started.push(label),
    };
    return { session: await openSession(options), started };
  };

  test.each([
    [["other/read"], ["other"]],
    [
      ["my files/a/b", "other/read"],
      ["my files", "other"],
    ],
    [["caller/relay"], []],
    [["no/read"], []],
    [
      ["other/read", "read"],
      ["my files", "other", "caller/api"],
    ],
    [["relay"], ["my files", "other", "caller/api"]],
  ])("a session for the calls %j starts the servers %j", async (calls, expected) => {
    const { session, started } = await open(calls);
    expect(started).toEqual(expected);
    await session.close();
  });

  test("a session for known calls reports nothing about servers that it does not start", async () => {
    const { session } = await open(["other/read"], {
      toolsets: { mine: ["f_read"] },
      packs: { deny: ["nothing"] },
      trailblazeSubprocessToolsets: [...servers, { name: "broken", command: "no-such-command" }],
    });
    expect(session.problems).toEqual([]);
    await session.close();
  });

  test("a nested call of another tool starts the other servers once", async () => {
    const { session, started } = await open(["caller/relay"]);
    const results = await Promise.all(
      ["f_read", "my files/read", "api_params"].map((name) => session.callTool("caller/relay", { name })),
    );
    expect(results.map(({ variant }) => variant)).toEqual(["Success", "Success", "Success"]);
    expect(started).toEqual(["my files", "other", "caller/api"]);
    expect(session.tools.map(({ name }) => name)).toContain("api_params");
    await session.close();
  });

  test("a callback starts the other servers too, and name collisions with their tools are a problem", async () => {
    const { session, started } = await open(["other/other_callback"], {
      trailblazeSubprocessToolsets: [...servers, server("third", ["read", "free"])],
    });
    const call = async (tool: string) =>
      jsonOf(await session.callTool("other/other_callback", { tool })).body.result;
    expect(await call("free")).toMatchObject({ success: true });
    expect(started).toEqual(["other", "my files", "third", "caller/api"]);
    expect(session.problems).toMatchObject([
      { code: "NameCollision", args: { collisions: [{ name: "read" }] } },
    ]);
    expect(await call("none")).toMatchObject({ success: false });
    await session.close();
  });

  test("a server that does not start for a nested call is reported", async () => {
    const { session } = await open(["caller/relay"], {
      trailblazeSubprocessToolsets: [{ name: "broken", command: "no-such-command" }],
    });
    const result = await session.callTool("caller/relay", { name: "api_params" });
    expect(result.variant).toBe("Success");
    expect(session.problems).toMatchObject([{ code: "ServerStartFailed" }]);
    expect(session.skipped).toMatchObject([{ name: "broken", reason: "ServerFailed" }]);
    await session.close();
  });

  test("a call of a tool with a slash in its name starts every server to find it", async () => {
    const { session, started } = await open(["a/b"]);
    expect(started).toEqual([]);
    expect(await session.resolveTool("a/b")).toMatchObject({ name: "f_a_b" });
    expect(started).toEqual(["my files", "other", "caller/api"]);
    expect(await session.callTool("a/b")).toMatchObject({ variant: "Success" });
    await session.close();
  });

  test.each([
    ["othr/read", "ServerNotFound", ["my files", "other", "caller/api"]],
    ["other/raed", "ToolNotFound", ["other"]],
    ["caller/none", "ToolNotFound", []],
    ["off/read", "ServerNotFound", []],
  ])("a call of the unknown tool %s is %s and starts %j", async (name, code, expected) => {
    const { session, started } = await open([name]);
    await expect(session.resolveTool(name)).rejects.toMatchObject({ code });
    expect(started).toEqual(expected);
    await session.close();
  });

  test("calls by LABEL/TOOL do not look for collisions, and the name that collides cannot be called", async () => {
    const relay = toolPack({ read: {} }, "export const read = () => 'pack';");
    const session = await openSession({
      cwd: makeProject({ relay }),
      config,
      calls: ["my files/read", "other/read", "relay/read"],
    } as CommandSessionOptions);
    for (const name of ["my files/read", "other/read"])
      expect(await session.callTool(name), name).toMatchObject({ variant: "Success" });
    expect(await session.callTool("relay/read")).toMatchObject({ message: "pack" });
    expect(() => session.findTool("read")).toThrow(
      expect.objectContaining({
        code: "NameCollision",
        problem: expect.objectContaining({
          args: { collisions: [{ name: "read", sources: expect.any(Array) }], isCalled: true },
        }),
      }),
    );
    await session.close();
  });
});

test.each([
  [{ bin: "cli.js" }, true],
  [{}, false],
])(
  "a tool of an installed package that is not a pack says so, with the fields %j",
  async (fields, mayBeServer) => {
    const cwd = makeProject({ "@acme/plain": { "package.json": { trailblaze: undefined, ...fields } } });
    const session = await openForTest(cwd, { config: {} });
    expect(() => session.findTool("@acme/plain/tool")).toThrow(
      expect.objectContaining({
        code: "ExtensionNotFound",
        problem: expect.objectContaining({ args: { name: "@acme/plain", mayBeServer } }),
      }),
    );
    expect(() => session.findTool("@acme/none/tool")).toThrow(
      expect.objectContaining({ code: "PackNotInstalled" }),
    );
  },
);
