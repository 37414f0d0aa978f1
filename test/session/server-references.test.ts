import { describe, expect, test } from "vitest";
import {
  makeProject,
  openForTest,
  probe,
  probeDefinition,
  server,
  toolPack,
  withServers,
} from "./support/session.ts";

const servers = [
  server("my files", ["read", "a/b", "x.y", "secret"], { prefix: "f", tools: { deny: ["secret"] } }),
  server("other", ["read", "other_callback"]),
  { ...probe("off"), enabled: false },
];
const config = withServers(...servers);

/** A pack with a tool that calls another, and with a server. */
const caller = () =>
  toolPack(
    { relay: {} },
    "export const relay = ({ name, args }, { callTool }) => callTool(name, args ?? {});",
    {
      "package.json": { trailblaze: { tools: ["relay"], servers: ["api"] } },
      "trailblaze/servers/api.json": probeDefinition({ PROBE_PREFIX: "api" }),
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
    expect((await session.resolveTool("my files/x.y")).name).toBe("f_x_y");
    expect(session.toolsets).toEqual([{ name: "mine", tools: ["read"] }]);
  });

  test.each([
    ["other/raed", "ToolNotFound", { name: "other/raed", server: "other", nearest: ["other/read"] }],
    ["my files/secret", "ToolNotFound", { reason: expect.stringContaining("tools") }],
    ["othr/read", "ServerNotFound", { name: "othr", nearest: ["other"], isLabel: true }],
    ["off/read", "ServerNotFound", { name: "off", isDisabled: true }],
    ["@acme/jira/read", "PackNotInstalled", { name: "@acme/jira" }],
  ])("the reference %s fails with %s", async (name, code, args) => {
    const session = await openForTest(makeProject({}), { config });
    await expect(session.resolveTool(name)).rejects.toMatchObject({ code, problem: { args } });
  });

  test("LABEL/TOOL is ambiguous if it is also the name of an item, except in the pack itself", async () => {
    const cwd = makeProject({
      box: toolPack({ open: {} }, "export const open = () => 'pack';"),
      caller: caller(),
    });
    const session = await openForTest(cwd, {
      config: withServers(server("box", ["open", "close"], { prefix: "box" })),
    });
    await expect(session.resolveTool("box/open")).rejects.toMatchObject({
      code: "AmbiguousName",
      problem: { args: { kinds: ["tool"], server: "box" } },
    });
    expect((await session.resolveTool("box/close")).name).toBe("box_close");
    expect(await session.callTool("relay", { name: "box/open" })).toMatchObject({ message: "pack" });
  });
});

describe("sessions for known calls", () => {
  const open = async (calls: readonly string[], changes: object = {}) => {
    const started: string[] = [];
    const session = await openForTest(makeProject({ caller: caller() }), {
      config: { ...config, ...changes },
      calls,
      onCommand: ({ label }) => started.push(label),
    });
    return { session, started };
  };

  test.each([
    [
      ["my files/a/b", "other/read"],
      ["my files", "other"],
    ],
    [["caller/relay"], []],
    [["relay"], ["my files", "other", "caller/api"]],
  ])("a session for the calls %j starts the servers %j", async (calls, expected) => {
    // Nothing is reported about those that it does not start.
    const { session, started } = await open(calls, {
      toolsets: { mine: ["f_read"] },
      packs: { deny: ["nothing"] },
    });
    expect(started).toEqual(expected);
    if (!expected.includes("caller/api")) expect(session.problems).toEqual([]);
  });

  test("a nested call of another tool starts the other servers once, and one that does not start is reported", async () => {
    const broken = { name: "broken", command: "no-such-command" };
    const { session, started } = await open(["caller/relay"], withServers(...servers, broken));
    const results = await Promise.all(
      ["f_read", "my files/read", "api_params"].map((name) => session.callTool("caller/relay", { name })),
    );
    expect(results.map(({ variant }) => variant)).toEqual(["Success", "Success", "Success"]);
    expect(started).toEqual(["my files", "other", "broken", "caller/api"]);
    expect(session.tools.map(({ name }) => name)).toContain("api_params");
    expect(session.problems).toMatchObject([{ code: "ServerStartFailed" }]);
    expect(session.skipped).toContainEqual(
      expect.objectContaining({ name: "broken", reason: "ServerFailed" }),
    );
  });

  test.each([
    ["othr/read", "ServerNotFound", ["my files", "other", "caller/api"]],
    ["other/raed", "ToolNotFound", ["other"]],
    ["off/read", "ServerNotFound", []],
  ])("a call of the unknown tool %s is %s and starts %j", async (name, code, expected) => {
    const { session, started } = await open([name]);
    await expect(session.resolveTool(name)).rejects.toMatchObject({ code });
    expect(started).toEqual(expected);
  });
});

test("a tool of an installed package that is not a pack says so, and whether it may be a server", async () => {
  const plain = (fields: object) => ({ "package.json": { trailblaze: undefined, ...fields } });
  const cwd = makeProject({ "@acme/plain": plain({ bin: "cli.js" }), "@acme/other": plain({}) });
  const session = await openForTest(cwd);
  for (const [name, mayBeServer] of [["@acme/plain", true] as const, ["@acme/other", false] as const])
    await expect(session.resolveTool(`${name}/tool`)).rejects.toMatchObject({
      code: "ExtensionNotFound",
      problem: { args: { name, mayBeServer } },
    });
});
