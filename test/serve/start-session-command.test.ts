// What the built command serves without a server, and for the name of a pack. Every process ends with its client.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeProject, probe, toolPack } from "../session/support/session.ts";
import { connectToCommand as connect, connectLegacy, serveForTest } from "../support/clients.ts";
import { runMain } from "../support/main.ts";
import { command as script } from "../support/run-cli.ts";
import { waitUntil } from "../support/wait-until.ts";

const module = `
console.log("printed while loading");
export const remember = ({ value }, { memory }) => {
  const before = memory.get("key") ?? null;
  memory.set("key", value);
  return { before };
};
export const other = () => "other";
`;

const bundle =
  "kind: Mcp.Tools\nmetadata: { name: group }\nentries: [{ name: entry, handler: ./handlers.js#other }]\n";
const prompt = { name: "text", description: "A text.", content: "Hello." };
const packs = {
  "@acme/whole": toolPack({ remember: {}, other: {} }, module, {
    "package.json": { trailblaze: { toolsets: ["group"], prompts: ["text"] } },
    "trailblaze/toolsets/group.yaml": bundle,
    "trailblaze/prompts/text.json": prompt,
  }),
  solo: toolPack({ alone: { handler: "./handlers.js#other" } }, module, {
    "package.json": { trailblaze: { servers: ["only"] } },
    "trailblaze/servers/only.yaml": "tools: [alone]\n",
  }),
  pair: toolPack({ both: { handler: "./handlers.js#other" } }, module, {
    "package.json": { trailblaze: { servers: ["one", "two"] } },
    "trailblaze/servers/one.yaml": "tools: [both]\n",
    "trailblaze/servers/two.yaml": "tools: [both]\n",
  }),
  twice: toolPack({ mine: { handler: "./handlers.js#other" } }, module),
};

const makeDesk = (config: object = {}) =>
  makeProject(packs, { "trailblaze.config.json": { logDir: "logs", ...config } });

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

test("with --tool-search and more than 30 tools, a client finds and calls tools that are not listed", async () => {
  const names = Array.from({ length: 31 }, (_, index) => `tool_${index}`);
  const tools = Object.fromEntries(names.map((name) => [name, { handler: "./handlers.js#other" }]));
  const cwd = makeProject({ many: toolPack(tools, module) });
  const { client } = await connect(cwd, "--tool-search", "--no-watch");
  expect(namesOf(await client.listTools())).toEqual(["search_tools"]);
  await client.callTool({ name: "search_tools", arguments: { query: "tool_7", limit: 1 } });
  expect(namesOf(await client.listTools())).toEqual(["search_tools", "tool_7"]);
  expect(textOf(await client.callTool({ name: "tool_8" }))).toBe("other");
});

describe("the session over stdio", () => {
  test("`initialize` is answered before the session's servers are, and what is broken is reported once", async () => {
    const cwd = makeDesk({
      trailblazeSubprocessToolsets: [
        probe("mute", { PROBE_GATE: "/nonexistent/gate" }),
        { name: "lost", command: "absent-program", args: [] },
      ],
      timeouts: { handshakeMs: 500 },
    });
    // The client has connected, although no server of the session has started.
    const { client, stderr } = await connect(cwd, "--no-watch");
    expect(client.getServerVersion()).toMatchObject({ name: "trailblaze" });
    expect(namesOf(await client.listTools())).toContain("remember");
    await waitUntil(() => stderr().includes('"mute"'));
    const lost = stderr().match(/Server "lost"/g);
    expect(lost).toHaveLength(1);
    expect(stderr().match(/Server "mute"/g)).toHaveLength(1);
  });

  test("a legacy and a modern client over stdio each have one session for the whole process", async () => {
    const cwd = makeDesk({ memory: { key: "start" } });
    const { client } = await connect(cwd, "--no-watch");
    const remember = (value: string) => ({ name: "remember", arguments: { value } });
    expect(textOf(await client.callTool(remember("a")))).toBe('{"before":"start"}');
    expect(textOf(await client.callTool(remember("b")))).toBe('{"before":"a"}');

    const modern = new ModernClient(
      { name: "modern", version: "1.0.0" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const args = [script, "start", "--no-watch", "--memory", "key=option"];
    await modern.connect(new ModernStdio({ command: process.execPath, args, cwd, stderr: "ignore" }));
    onTestFinished(() => modern.close());
    expect(namesOf(await modern.listTools())).toEqual(namesOf(await client.listTools()));
    expect(textOf(await modern.callTool(remember("a")))).toBe('{"before":"option"}');
    expect(textOf(await modern.callTool(remember("b")))).toBe('{"before":"a"}');
  });

  test("an entry of the config that starts the same session is left out, so there is no loop", async () => {
    const self = { name: "self", command: process.execPath, args: [script, "start", "--no-watch"] };
    const { client, stderr } = await connect(
      makeDesk({ trailblazeSubprocessToolsets: [self] }),
      "--no-watch",
    );
    expect(namesOf(await client.listTools())).toContain("remember");
    expect(namesOf(await client.listTools()).filter((name) => name.startsWith("self"))).toEqual([]);
    await waitUntil(() => stderr().includes('Server "self" failed to start'));
  });

  test("`tools --served` shows the names that `start` serves", async () => {
    const cwd = makeProject(
      {
        "@acme/shop": toolPack({ find: {} }, "export const find = () => 'shop';"),
        "@acme/wiki": toolPack({ find: {} }, "export const find = () => 'wiki';"),
      },
      { "trailblaze.config.json": { logDir: "logs" } },
    );
    const served = await runMain(["tools", "--served", "--json"], { cwd: cwd });
    expect(namesOf(JSON.parse(served.stdout))).toEqual(["shop_find", "wiki_find"]);
    const client = await connectLegacy((await serveForTest(null, { cwd })).url);
    expect(namesOf(await client.listTools())).toEqual(["shop_find", "wiki_find"]);
    const called = await runMain(["call", "wiki_find", "--served", "--json"], { cwd: cwd });
    expect(JSON.parse(called.stdout)).toMatchObject({ variant: "Success", message: "wiki" });
    const plain = await runMain(["tools", "--json"], { cwd: cwd });
    expect(JSON.parse(plain.stdout)).toMatchObject({ error: { code: "NameCollision" } });
  });
});

describe("`start` with the name of a pack", () => {
  test("a pack without servers is served whole: its tools, its bundles' entries and its prompts; one with a server means that", async () => {
    const clientOf = async (name: string) =>
      connectLegacy((await serveForTest(name, { cwd: makeDesk() })).url);
    const client = await clientOf("acme/whole");
    expect(namesOf(await client.listTools())).toEqual(["remember", "other", "entry"]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["text"]);
    expect(client.getServerVersion()).toMatchObject({ name: "whole" });
    expect((await clientOf("solo")).getServerVersion()).toMatchObject({ name: "only" });
  });

  test.each<[string, string[], string, object?]>([
    ["a pack with several servers", ["pair"], "AmbiguousName", { servers: ["pair/one", "pair/two"] }],
    ["a name of a pack and of a server in the config", ["twice"], "AmbiguousName"],
    ["a session option beside a server", ["solo", "--platform", "web"], "InvalidArguments"],
    ["--no-watch beside a server", ["solo", "--no-watch"], "InvalidArguments"],
    ["--all-tools without a server", ["--all-tools"], "InvalidArguments"],
    ["an HTTP option for the session over stdio", ["--stateless"], "InvalidArguments"],
    ["an HTTP option for a server over stdio", ["solo", "--token", "x"], "InvalidArguments"],
  ])("%s is refused with exit code 2", async (_what, given, code, args = {}) => {
    const cwd = makeDesk({ servers: { twice: { tools: ["twice/mine"] } } });
    const { exitCode, stdout } = await runMain(["start", ...given, "--json"], { cwd: cwd });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code, args });
  });

  test("a declared pack that is not installed is named, with what to do", async () => {
    const cwd = makeDesk();
    const path = join(cwd, "package.json");
    const project = JSON.parse(readFileSync(path, "utf8"));
    project.dependencies["@acme/absent"] = "^1";
    writeFileSync(path, JSON.stringify(project));
    const { exitCode, stdout } = await runMain(["start", "acme/absent", "--json"], { cwd });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: "PackNotInstalled",
      message: expect.stringContaining("@acme/absent"),
      hint: expect.stringContaining("npm install"),
    });
  });
});
