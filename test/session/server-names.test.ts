import { describe, expect, test } from "vitest";
import type { Session } from "../../src/session.ts";
import {
  listing,
  makeProject,
  namesOf,
  openForTest,
  probeDefinition,
  server,
  toolPack,
  withServers,
} from "./support/session.ts";

const originalOf = (session: Session, name: string) =>
  session.tools.find((tool) => tool.name === name)?._meta?.["trailblaze/originalName"];

/** A pack with a server that has these tools, and a tool in data. */
const packWithServer = (tools: readonly string[]) =>
  toolPack({ own: {} }, "export const own = () => 1;", {
    "package.json": { trailblaze: { tools: ["own"], servers: ["api"] } },
    "trailblaze/servers/api.json": probeDefinition({ PROBE_TOOLS: listing(...tools) }),
  });

describe("the entry of a server in a config", () => {
  test("an entry of a server adds its prefix to names of tools once, and calls use the server's own names", async () => {
    const session = await openForTest(makeProject({}), {
      config: withServers(
        server("a", ["get"], { prefix: "mine" }),
        server("b", ["get"], { prefix: "his_" }),
        server("c", ["get"], { prefix: "" }),
      ),
    });
    expect(namesOf(session.tools)).toEqual(["mine_get", "his_get", "get"]);
    for (const { name } of session.tools) {
      expect(await session.callTool(name)).toMatchObject({ variant: "Success", message: "called" });
    }
    expect(session.tools.every(({ _meta }) => _meta === undefined)).toBe(true);
  });

  test("an entry of a server allows and denies tools by their own names, and deny wins", async () => {
    const tools = { allow: ["get*", "a/*"], deny: ["get_secret", "*_b"] };
    const own = ["get", "get_secret", "put", "a/b", "get_b"];
    const session = await openForTest(makeProject({}), {
      config: withServers(server("a", own, { tools, prefix: "p" })),
    });
    expect(namesOf(session.tools)).toEqual(["p_get", "p_a_b"]);
    expect(session.skipped.map(({ name, reason }) => [name, reason])).toEqual([
      ["p_get_secret", "Denied"],
      ["p_put", "Denied"],
      ["p_get_b", "Denied"],
    ]);
  });

  test("an entry of a server adds its tools to a toolset, next to others of that name", async () => {
    const session = await openForTest(makeProject({}), {
      config: {
        ...withServers(server("a", ["get"], { toolset: "web" }), server("b", ["put"], { toolset: "web" })),
        toolsets: { web: [] },
      },
      toolsets: ["web"],
    });
    expect(session.toolsets).toEqual([{ name: "web", tools: ["get", "put"] }]);
    expect(namesOf(session.toolsForLlm())).toEqual(["get", "put"]);
  });
});

describe("names of servers' tools that clients would reject", () => {
  const long = "x".repeat(100);

  test("invalid names of servers' tools are made safe, calls accept both names, and a repeated one is reported", async () => {
    const session = await openForTest(makeProject({}), {
      config: {
        ...withServers(server("a", ["files.read", "put it/here", long, "fine", "fine"])),
        toolsets: { one: ["files.read"] },
      },
    });
    const [read = "", put = "", cut = "", fine = ""] = namesOf(session.tools);
    expect([read, put, fine]).toEqual(["files_read", "put_it_here", "fine"]);
    expect(cut).toMatch(/^x{55}_[0-9a-f]{8}$/);
    expect(originalOf(session, read)).toBe("files.read");
    expect(originalOf(session, cut)).toBe(long);
    expect(originalOf(session, fine)).toBeUndefined();
    for (const name of [read, "files.read", put, "put it/here", cut, long]) {
      expect((await session.callTool(name)).variant).toBe("Success");
    }
    expect(session.toolsets).toEqual([{ name: "one", tools: ["files_read"] }]);
    const reason = expect.stringContaining("listed more than once");
    expect(session.problems).toMatchObject([{ severity: "warning", message: reason }]);
  });

  test("a tool with a prefix is called by its server's own name, too, unless several servers have it", async () => {
    const session = await openForTest(makeProject({}), {
      config: withServers(
        server("a", ["get", "put"], { prefix: "mine" }),
        server("b", ["get"], { prefix: "his" }),
      ),
    });
    expect(await session.callTool("put")).toMatchObject({ variant: "Success" });
    await expect(session.callTool("get")).rejects.toMatchObject({
      code: "NameCollision",
      problem: { args: { collisions: [{ name: "get", sources: [expect.anything(), expect.anything()] }] } },
    });
  });
});

test("with nameCollisions: prefix, tools with one name get the name of their pack or server", async () => {
  const cwd = makeProject({
    "@acme/jira": toolPack({ search: {} }, "export const search = () => 'jira';"),
    "socket.io": toolPack({ search: {} }, "export const search = () => 'socket';"),
  });
  const session = await openForTest(cwd, {
    config: {
      ...withServers(server("my files", ["search", "list"]), server("b", ["search"], { prefix: "jira" })),
      nameCollisions: "prefix",
    },
  });
  expect(namesOf(session.tools)).toEqual([
    "my_files_search",
    "list",
    "jira_search",
    expect.stringMatching(/^jira_search_[0-9a-f]{8}$/),
    "socket_io_search",
  ]);
  expect(await session.callTool("acme/jira/search")).toMatchObject({ message: "jira" });
});

describe("the policy for packs", () => {
  const cwd = () => makeProject({ "@acme/jira": packWithServer(["get", "put", "own"]) });

  test("the policy can deny a tool of a pack's server by name", async () => {
    const own = expect.stringMatching(/^jira_own_[0-9a-f]{8}$/);
    const session = await openForTest(cwd(), {
      config: { packs: { deny: ["acme/jira/put"] }, nameCollisions: "prefix" },
    });
    expect(namesOf(session.tools)).toEqual([own, "get", own]);
    expect(session.skipped).toMatchObject([{ name: "put", reason: "Denied", source: { server: "api" } }]);
  });

  test("the policy can allow only a tool of a pack's server by name, which starts the server", async () => {
    const session = await openForTest(cwd(), { config: { packs: { allow: ["@acme/jira/get"] } } });
    expect(namesOf(session.tools)).toEqual(["get"]);
    expect(namesOf(session.skipped).sort()).toEqual(["own", "own", "put"]);
  });

  test("a name in the policy means an item if the pack has one of that name, and then starts no server", async () => {
    const started: string[] = [];
    const session = await openForTest(cwd(), {
      config: { packs: { allow: ["acme/jira/own"] } },
      onCommand: ({ label }) => started.push(label),
    });
    expect(session.tools.map(({ qualifiedName }) => qualifiedName)).toEqual(["acme/jira/own"]);
    expect(started).toEqual([]);
  });
});
