import { describe, expect, test, vi } from "vitest";
import { findPacks } from "../../src/discovery/find-packs.ts";
import { createNodeDiscoveryPort } from "../../src/files/node-discovery-port.ts";
import { discoverPacks, inspectItem, inspectPack } from "../../src/index.ts";
import { startServer } from "../../src/serve.ts";
import { decideEnabledPacksOfProject } from "../../src/session/enabled-packs.ts";
import { listBuiltIns } from "../../src/session/list-built-ins.ts";
import { setPolicy } from "../support/machine-policy.ts";
import { makeProject, mixedPack, openForTest, probe, probeServer, toolPack } from "./support/session.ts";

vi.mock("../../src/files/policy-location.ts", () => import("../support/machine-policy.ts"));

const contact = "it@acme.example";
const tool = (name: string) =>
  toolPack({ run: { name } }, "export const run = () => String(process.pid);\n", {
    "package.json": { trailblaze: { servers: ["desk", "all"] } },
    "trailblaze/servers/desk.json": { command: process.execPath, args: [probeServer] },
    "trailblaze/servers/all.json": { tools: ["run"] },
  });

/** Two packs, each with a tool, a server that is a program, and one that is composed. */
const makePacks = (more = {}) =>
  makeProject({ "@acme/jira": tool("jira_run"), stray: tool("stray_run") }, more);
const deniedIn = ({ skipped }: { skipped: readonly { name: string; reason: string }[] }) =>
  skipped.filter(({ reason }) => reason === "DeniedByPolicy").map(({ name }) => name);

/** A session without the packs' programs, which most tests do not need. */
const quick = { packs: { deny: ["*/desk", "*/*/desk"] } };

describe("packs that the administrator's policy excludes", () => {
  test.each([
    [{ allow: ["@acme/*"] }, ["jira_run"]],
    [{ allow: ["stray@^1.0"] }, ["stray_run"]],
    [{ allow: ["stray@^2.0"] }, []],
    [{ allow: ["*"] }, ["jira_run", "stray_run"]],
    [{ deny: ["stray"] }, ["jira_run"]],
    [{ deny: ["stray@<1.0.0"] }, ["jira_run", "stray_run"]],
    [{ allow: ["@acme/*", "stray"], deny: ["@acme/jira"] }, ["stray_run"]],
  ])("with packs %j, a session has the tools %j", async (packs, expected) => {
    setPolicy({ packs });
    const session = await openForTest(makePacks(), { config: quick });
    expect(session.tools.map(({ name }) => name)).toEqual(expected);
    expect(session.problems.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("each excluded tool and server is skipped with the contact, no program of it starts, and calls say why", async () => {
    setPolicy({ packs: { allow: ["@acme/*"] }, contact });
    const started: string[] = [];
    const session = await openForTest(makePacks(), { onCommand: ({ label }) => started.push(label) });
    expect(started).toEqual(["acme/jira/desk"]);
    const message = expect.stringContaining(`excludes package "stray" 1.0.0. Contact: ${contact}.`);
    const source = { type: "pack", pack: "stray", version: "1.0.0" };
    expect(session.skipped).toEqual([
      { name: "run", source: { ...source, item: "run" }, reason: "DeniedByPolicy", message },
      ...["desk", "all"].map((server) => ({
        name: server,
        source: { ...source, item: server, server },
        reason: "DeniedByPolicy",
        message,
      })),
    ]);
    expect(session.servers).toContainEqual(
      expect.objectContaining({ label: "stray/desk", state: "excluded", reason: "DeniedByPolicy" }),
    );
    await expect(session.callTool("stray/run")).rejects.toMatchObject({ code: "DeniedByPolicy", message });
  });

  test("nothing in a config widens the policy, and the config still narrows it", async () => {
    setPolicy({ packs: { allow: ["@acme/*"] } });
    const allow = { allow: ["*", "stray"], transitive: ["stray"], autoInstall: ["stray"] };
    const wide = await openForTest(makePacks(), {
      config: { packs: { ...allow, deny: quick.packs.deny }, toolsets: { mine: ["stray/run"] } },
    });
    expect(wide.tools).toEqual([]);
    expect(deniedIn(wide)).toContain("run");
    const narrow = await openForTest(makePacks(), { config: { packs: { deny: ["acme/jira"] } } });
    expect(narrow.tools).toEqual([]);
    expect(narrow.skipped.filter(({ reason }) => reason === "Denied").length).toBeGreaterThan(0);
  });

  test("a transitive pack that another one refers to is excluded as well", async () => {
    const cwd = makeProject(
      {
        "@acme/jira": toolPack({ run: { name: "jira_run" } }, "export const run = () => 'ran';\n", {
          "package.json": { trailblaze: { toolsets: ["both"] }, dependencies: { deep: "*" } },
          "trailblaze/toolsets/both.json": { name: "both", tools: ["run", "deep/run"] },
        }),
      },
      Object.fromEntries(
        Object.entries(toolPack({ run: { name: "deep_run" } }, "export const run = () => 'ran';\n")).map(
          ([path, content]) => [
            `node_modules/deep/${path}`,
            path === "package.json" ? { name: "deep", version: "1.0.0", ...(content as object) } : content,
          ],
        ),
      ),
    );
    const before = await openForTest(cwd);
    expect(before.tools.map(({ name }) => name)).toEqual(["jira_run", "deep_run"]);
    setPolicy({ packs: { deny: ["deep"] } });
    const session = await openForTest(cwd);
    expect(session.tools.map(({ name }) => name)).toEqual(["jira_run"]);
    expect(deniedIn(session)).toEqual(["run"]);
    const { packs } = await findPacks(createNodeDiscoveryPort(), { cwd });
    const listed = await decideEnabledPacksOfProject(packs, cwd);
    expect(listed.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["@acme/jira", true],
      ["deep", false],
    ]);
  });

  test("discovery and inspection show an excluded pack with the reason", async () => {
    setPolicy({ packs: { allow: ["@acme/*"] }, contact });
    const cwd = makePacks();
    const { packs, problems } = await discoverPacks({ cwd });
    const denied = expect.objectContaining({ code: "DeniedByPolicy", severity: "info", pack: "stray" });
    expect(problems).toEqual([]);
    expect(packs.map(({ name, enabled, problems: own }) => [name, enabled, own])).toEqual([
      ["@acme/jira", true, []],
      ["stray", false, [denied]],
    ]);
    const inspected = await inspectPack("stray", { cwd });
    expect(inspected).toMatchObject({ enabled: false, problems: [denied] });
    expect(inspected.tools[0]?.definition).toMatchObject({ name: "stray_run" });
  });

  test.each(["stray", "stray/desk", "stray/all", "mine"])("starting %s is refused", async (server) => {
    const config = { servers: { mine: { tools: ["acme/jira/run", "stray/run"] } } };
    setPolicy({ packs: { allow: ["@acme/*"] }, contact });
    const starting = startServer(server, { cwd: makePacks(), config, transport: {} });
    await expect(starting).rejects.toMatchObject({
      code: "DeniedByPolicy",
      problem: { severity: "error" },
      message: expect.stringContaining(contact),
    });
  });

  test("a server of an allowed pack is served", async () => {
    setPolicy({ packs: { allow: ["@acme/*"] } });
    const running = await startServer("acme/jira/all", { cwd: makePacks(), transport: {} });
    await running.close();
  });
});

describe("servers of the config under a policy", () => {
  const config = {
    ...quick,
    trailblazeSubprocessToolsets: [probe("own")],
    mcpServers: { far: { url: "http://127.0.0.1:1/mcp" } },
    servers: { mine: { tools: ["acme/jira/run", "hello"] } },
    builtIns: [{ name: "hello", inputSchema: { type: "object" }, handler: "./hello.mjs" }],
  };
  const files = { "hello.mjs": "export default () => 'hello';\n" };

  test("servers.config: deny excludes processes and URLs, and keeps composed servers and built-ins", async () => {
    setPolicy({ servers: { config: "deny" }, contact });
    const cwd = makePacks(files);
    const started: string[] = [];
    const session = await openForTest(cwd, {
      config,
      onCommand: ({ label }) => started.push(label),
      onConnect: ({ label }) => started.push(label),
    });
    expect(started).toEqual([]);
    expect(session.tools.map(({ name }) => name)).toEqual(["hello", "jira_run", "stray_run"]);
    expect(session.skipped.filter(({ reason }) => reason === "DeniedByPolicy")).toEqual(
      ["own", "far"].map((server) => ({
        name: server,
        source: { type: "config", server },
        reason: "DeniedByPolicy",
        message: expect.stringContaining(`such as server "${server}". Contact: ${contact}.`),
      })),
    );
    expect(session.servers.map(({ label, state, reason }) => [label, state, reason]).slice(0, 2)).toEqual([
      ["own", "excluded", "DeniedByPolicy"],
      ["far", "excluded", "DeniedByPolicy"],
    ]);
    await expect(session.callTool("own/echo")).rejects.toMatchObject({ code: "DeniedByPolicy" });
    await expect(startServer("own", { cwd, config, transport: {} })).rejects.toMatchObject({
      code: "DeniedByPolicy",
    });
    const running = await startServer("mine", { cwd, config, transport: {} });
    await running.close();
  });

  test("servers.config: allow, and a policy without it, exclude no server", async () => {
    for (const policy of [{ servers: { config: "allow" } }, { contact }]) {
      setPolicy(policy);
      const session = await openForTest(makePacks(), {
        config: { ...quick, mcpServers: { own: config.trailblazeSubprocessToolsets[0] } },
      });
      expect(deniedIn(session)).toEqual([]);
      expect(session.servers.map(({ label }) => label)).toContain("own");
    }
  });

  test("a list of what the config defines has an excluded server, and a problem for it", async () => {
    setPolicy({ servers: { config: "deny" } });
    const cwd = makePacks({ "trailblaze.config.json": JSON.stringify(config), ...files });
    const { items, problems } = await listBuiltIns({ cwd });
    expect(items.map(({ name }) => name)).toEqual(["hello", "mine", "own", "far"]);
    expect(problems.map(({ code, severity, args }) => [code, severity, args])).toMatchObject([
      ["DeniedByPolicy", "info", { name: "own" }],
      ["DeniedByPolicy", "info", { name: "far" }],
    ]);
  });
});

describe("how a policy lets code run", () => {
  test("isolation: process runs tools in a child process, even if the config says otherwise", async () => {
    const config = { ...quick, isolation: "in-process" };
    const pidOf = async () =>
      (await (await openForTest(makePacks(), { config })).callTool("jira_run")).message;
    expect(await pidOf()).toBe(String(process.pid));
    setPolicy({ isolation: "process" });
    expect(await pidOf()).toMatch(/^\d+$/);
    expect(await pidOf()).not.toBe(String(process.pid));
  });

  test("requireConfinement lets definitions that are code be evaluated where they can be confined", async () => {
    setPolicy({ requireConfinement: true });
    const session = await openForTest(makeProject({ mixed: mixedPack }));
    expect(session.tools.map(({ name }) => name)).toEqual(["data", "code"]);
    expect(session.skipped).toEqual([]);
  });
});

describe("a policy that cannot be used", () => {
  const policy = '{ "packs": { "alow": [] } }';
  const rejection = { code: "PolicyMalformed" };

  test("nothing runs: sessions and servers are refused", async () => {
    setPolicy(policy);
    const cwd = makePacks();
    await expect(openForTest(cwd)).rejects.toMatchObject(rejection);
    await expect(openForTest(cwd, { config: { nonsense: true } })).rejects.toMatchObject(rejection);
    for (const server of ["acme/jira/all", "acme/jira/desk", "acme/jira", null])
      await expect(startServer(server as string, { cwd, transport: {} })).rejects.toMatchObject(rejection);
  });

  test("discovery and inspection show a warning, and no pack is enabled", async () => {
    const file = setPolicy(policy);
    const cwd = makePacks();
    const { packs, problems } = await discoverPacks({ cwd });
    expect(problems).toMatchObject([
      { code: "PolicyMalformed", severity: "warning", file, line: 1, column: 14 },
    ]);
    expect(packs.map(({ enabled }) => enabled)).toEqual([false, false]);
    const { packs: found } = await findPacks(createNodeDiscoveryPort(), { cwd });
    expect((await decideEnabledPacksOfProject(found, cwd)).map(({ enabled }) => enabled)).toEqual([
      false,
      false,
    ]);
    expect(await inspectItem("stray/run", { cwd })).toMatchObject({ definition: { name: "stray_run" } });
    expect((await listBuiltIns({ cwd })).problems).toEqual([]);
  });
});
